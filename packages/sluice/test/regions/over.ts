/** A call that passed was decided between two instants, in milliseconds. */
export type Passed = readonly [sent: number, answered: number]

/** The most tokens above the limit that surely passed within an interval; at most 0 if nothing was over. */
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
