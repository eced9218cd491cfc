import { type AnyLimit, createLimiter, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from 'sluice'
import { interleave, type Lane, type Timed } from '../interleave.ts'

export const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window-log'] as const
export type AlgorithmName = (typeof ALGORITHMS)[number]

/** `allowed`: nobody is refused; `denied`: the one token of a day is spent before anything is measured. */
export type Load = 'allowed' | 'denied'

export interface AlgorithmsInput {
  readonly seconds: number
  readonly load: Load
}

/** One lane for each of `ALGORITHMS`, in their order. */
export interface AlgorithmsResult {
  readonly lanes: readonly Timed[]
}

const KEY = 'user:1000042'
const CALLS = 20_000
const WARM_UP = 10

/** What a log may hold at most, and a window in which no machine calls so often. */
const LOG = { limit: 10_000, window: '1ms' }
const DAY = '1d'

/** `checkSync` on one key under each algorithm, all in one run of one process. */
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

/** So many tokens at once, and as many again in every `window`. */
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
