/** The median of many measurements, and the two quartiles around it. */
export interface Spread {
  readonly low: number
  readonly median: number
  readonly high: number
}

/** Lower quartile, median and upper quartile, interpolated between neighbours; NaN for no values. */
export function spreadOf(values: readonly number[]): Spread {
  const all = sorted(values)
  return { low: quantileOf(all, 0.25), median: quantileOf(all, 0.5), high: quantileOf(all, 0.75) }
}

/** The median, with the least and the greatest value: of few values, quartiles say too little. */
export function rangeOf(values: readonly number[]): Spread {
  const all = sorted(values)
  return { low: quantileOf(all, 0), median: quantileOf(all, 0.5), high: quantileOf(all, 1) }
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median
}

/** The spread of `values[i] / baselines[i]`, so that only measurements of the same round are compared. */
export function ratiosOf(
  values: readonly number[],
  baselines: readonly number[],
  of: (ratios: readonly number[]) => Spread = spreadOf,
): Spread {
  return of(paired(values, baselines).map(([value, baseline]) => value / baseline))
}

/** The spread of `values[i] - baselines[i]`. */
export function differencesOf(values: readonly number[], baselines: readonly number[]): Spread {
  return spreadOf(paired(values, baselines).map(([value, baseline]) => value - baseline))
}

function paired(values: readonly number[], baselines: readonly number[]): [number, number][] {
  if (values.length !== baselines.length) throw new RangeError(`${values.length} values cannot be paired with ${baselines.length}`)
  return values.map((value, index) => [value, baselines[index] as number])
}

/** A sorted copy. */
export function sorted(values: ArrayLike<number>): Float64Array {
  return Float64Array.from(values).sort()
}

/** The value below which this share (0 to 1) of sorted values lies, interpolated between neighbours; NaN for no values. */
export function quantileOf(values: ArrayLike<number>, share: number): number {
  const at = (values.length - 1) * share
  const [below, above] = [values[Math.floor(at)], values[Math.ceil(at)]]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}
