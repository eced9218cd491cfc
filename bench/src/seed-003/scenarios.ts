/** How the clocks of hosts differ from the server's, and how long the network takes. */
export interface Scenario {
  readonly name: string
  /** The clocks of the hosts are spread evenly over this many milliseconds, half of them behind the server's clock. */
  readonly skewMs: number
  /** The milliseconds that the fastest clock gains, and the slowest loses, in each second. */
  readonly driftMsPerSecond: number
  /** The round trip that the network adds, milliseconds. Each direction takes half of it, times a random factor from 0.5 to 1.5. */
  readonly delayMs: number
  /** Whether a quick run measures it, too. */
  readonly quick: boolean
}

/** A load on one key: requests at random instants, each by a random host with a connection of its own. */
export interface HostsLoad {
  readonly hosts: number
  readonly perSecond: number
  readonly rate: number
  readonly burst: number
}

/** Twice as many requests as the limit lets pass, so there are tokens to be denied wrongly and denials to be allowed wrongly. */
export const CLOCKS_LOAD: HostsLoad = { hosts: 8, perSecond: 400, rate: 200, burst: 20 }

/**
 * Many requests of many hosts, so that they overtake each other in the network. The limit is that of `TestOverGrant` in the article
 * "Benchmarking Token Bucket Rate Limiters".
 */
export const REGRESSION_LOAD: HostsLoad = { hosts: 64, perSecond: 2_000, rate: 10, burst: 10 }

export const REGRESSION: Scenario = { name: 'delay 10 ms', skewMs: 0, driftMsPerSecond: 0, delayMs: 10, quick: true }

const NONE = { skewMs: 0, driftMsPerSecond: 0, delayMs: 0 } as const

export const SCENARIOS: readonly Scenario[] = [
  { ...NONE, name: 'no skew, no delay', quick: true },
  { ...NONE, name: 'skew 10 ms', skewMs: 10, quick: false },
  { ...NONE, name: 'skew 100 ms', skewMs: 100, quick: true },
  { ...NONE, name: 'skew 1,000 ms', skewMs: 1_000, quick: true },
  { ...NONE, name: 'drift 20 ms/s', driftMsPerSecond: 20, quick: true },
  { ...NONE, name: 'delay 5 ms', delayMs: 5, quick: false },
  { ...NONE, name: 'delay 20 ms', delayMs: 20, quick: false },
  { ...NONE, name: 'delay 50 ms', delayMs: 50, quick: true },
  { ...NONE, name: 'skew 100 ms, delay 20 ms', skewMs: 100, delayMs: 20, quick: false },
  { name: 'skew 1,000 ms, drift 20 ms/s, delay 50 ms', skewMs: 1_000, driftMsPerSecond: 20, delayMs: 50, quick: true },
]

/** How far the clock of a host is ahead of the server's, in milliseconds, when `elapsedMs` milliseconds have passed since the start. */
export function aheadMs({ skewMs, driftMsPerSecond }: Scenario, host: number, hosts: number, elapsedMs: number): number {
  // From -1 for the first host to 1 for the last.
  const place = hosts === 1 ? 0 : (2 * host) / (hosts - 1) - 1
  return place * (skewMs / 2 + (driftMsPerSecond * elapsedMs) / 1_000)
}
