/** Requests of one user, at milliseconds after the beginning of a minute. */
export interface BoundaryLoad {
  readonly name: string
  readonly instants: readonly number[]
  /** Whether a plot shows the requests that were allowed over time. */
  readonly drawn?: true
}

function times(count: number, at: number, every: number = 0): number[] {
  return Array.from({ length: count }, (_, index) => at + index * every)
}

const MINUTE = 60_000

export const BOUNDARY_LOADS: readonly BoundaryLoad[] = [
  { name: '10 at :59, 10 a second later', instants: [...times(10, 59_000), ...times(10, MINUTE)], drawn: true },
  { name: '10 at :00, then at 59.999, 60.000 and 60.001 s', instants: [...times(10, 0), MINUTE - 1, MINUTE, MINUTE + 1] },
  { name: '11 at once on a full limit', instants: times(11, 0) },
  {
    name: 'one, ten idle minutes, 20 at once, then one every 3 s',
    instants: [0, ...times(20, 10 * MINUTE), ...times(20, 10 * MINUTE + 3_000, 3_000)],
    drawn: true,
  },
  { name: '10 at once, then one every 6 s (the rate) for 5 minutes', instants: [...times(10, 0), ...times(50, 6_000, 6_000)] },
]
