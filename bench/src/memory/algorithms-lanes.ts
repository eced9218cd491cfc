import { type AnyLimit, createLimiter, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from 'sluice'
import { interleave, type Lane, type Timed } from '../interleave.ts'

export const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log'] as const
export type AlgorithmName = (typeof ALGORITHMS)[number]

/** `allowed`: no request is denied. `denied`: the only token of the day is spent before the measurement, so every request is denied. */
export type Load = 'allowed' | 'denied'

export interface AlgorithmsInput {
  readonly seconds: number
  readonly load: Load
}

/** One lane (a measured limiter) for each of `ALGORITHMS`, in the same order. */
export interface AlgorithmsResult {
  readonly lanes: readonly Timed[]
}

const KEY = 'user:1000042'
const CALLS = 20_000
const WARM_UP = 10

/** The most entries that a log may have, in a window so short that no machine makes this many calls in it. */
const LOG = { limit: 10_000, window: '1ms' }
const DAY = '1d'

/** Compares `checkSync` on one key under each algorithm, in one run of one process. */
export async function compareAlgorithms({ seconds, load }: AlgorithmsInput): Promise<AlgorithmsResult> {
  const lanes = ALGORITHMS.map((name) => laneOf(name, load))
  return { lanes: await interleave(lanes, { calls: CALLS, warmUp: WARM_UP, seconds }) }
}

function laneOf(name: AlgorithmName, load: Load): Lane {
  const limiter = createLimiter({ name, limit: load === 'denied' ? limitOf(name, 1, DAY) : generous(name) })
  if (load === 'denied') limiter.checkSync(KEY)
  return {
    name,
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if (limiter.checkSync(KEY).allowed) allowed += 1
      return allowed
    },
  }
}

function generous(name: AlgorithmName): AnyLimit {
  return name === 'sliding-window-log' ? slidingWindowLog(LOG) : limitOf(name, 10_000_000, '1s')
}

/** A limit of this many tokens at once, and as many again in every `window`. */
export function limitOf(name: AlgorithmName, limit: number, window: string): AnyLimit {
  switch (name) {
    case 'token-bucket':
      return tokenBucket({ rate: { tokens: limit, per: window }, burst: limit })
    case 'fixed-window':
      return fixedWindow({ limit, window })
    case 'sliding-window-counter':
      return slidingWindowCounter({ limit, window })
    case 'sliding-window-log':
      return slidingWindowLog({ limit, window })
  }
}
