/** How a cost grows with a size: `cost = factor * size ^ exponent`, fitted by least squares to the logarithms. */
export interface Slope {
  /** 0: the cost does not depend on the size; 1: twice the size costs twice as much. */
  readonly exponent: number
  /** What ten times the size multiplies the cost by: 10 ^ exponent. */
  readonly perTenfold: number
}

/** @throws RangeError for fewer than two points, or a size or cost that is not above 0 */
export function slopeOf(points: readonly { readonly size: number; readonly cost: number }[]): Slope {
  if (points.length < 2 || points.some(({ size, cost }) => !(size > 0 && cost > 0)))
    throw new RangeError('a slope needs two or more points above 0')
  const logs = points.map(({ size, cost }) => [Math.log10(size), Math.log10(cost)] as const)
  const mean = (of: 0 | 1): number => logs.reduce((sum, point) => sum + point[of], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const across = logs.reduce((sum, [size, cost]) => sum + (size - x) * (cost - y), 0)
  const exponent = across / logs.reduce((sum, [size]) => sum + (size - x) ** 2, 0)
  return { exponent, perTenfold: 10 ** exponent }
}
