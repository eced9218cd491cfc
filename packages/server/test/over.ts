/** Calls that passed. Each was decided between two instants, at which it was sent and answered, in milliseconds. */
export type Passed = readonly (readonly [sent: number, answered: number])[]

/** The most tokens above the limit that certainly passed within an interval. At most 0 if the limit was kept. */
export function overOf(passed: Passed, rate: number, burst: number): number {
  let worst = -Infinity
  for (const [from] of passed) {
    let count = 0
    const within = passed.filter(([sent]) => sent >= from).sort((a, b) => a[1] - b[1])
    for (const [, answered] of within) {
      count += 1
      worst = Math.max(worst, count - burst - (rate * (answered - from)) / 1_000)
    }
  }
  return worst
}
