/** A call that passed: the two instants, in milliseconds, between which it was decided. */
export type Passed = readonly [sent: number, answered: number]

/** The most tokens above the limit that surely passed within any interval. At most 0 if the limit was not exceeded. */
export function overOf(passed: readonly Passed[], rate: number, burst: number): number {
  const byEnd = [...passed].sort((a, b) => a[1] - b[1])
  let worst = -Infinity
  for (const [from] of passed) {
    let count = 0
    for (const [sent, answered] of byEnd) {
      if (sent < from) continue
      count += 1
      worst = Math.max(worst, count - burst - (rate * (answered - from)) / 1_000)
    }
  }
  return worst
}
