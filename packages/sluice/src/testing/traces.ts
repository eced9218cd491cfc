import type { AnyLimit } from '../algorithms/algorithm.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import type { Call, CallGroup } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { seeded } from './random.ts'

/** One call to `consume`: groups decided at one time. */
export interface TraceStep {
  readonly now: Micros
  readonly groups: readonly CallGroup[]
}

/** Rates whole and odd, slow and fast, with decimals; bursts of a part of a token to a million. */
export const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '10/s', burst: 10 }),
  tokenBucket({ rate: '10/s', burst: 100 }),
  tokenBucket({ rate: '3/s', burst: 1 }),
  tokenBucket({ rate: '7/s', burst: 13 }),
  tokenBucket({ rate: '333/s', burst: 333 }),
  tokenBucket({ rate: '100/min', burst: 20 }),
  tokenBucket({ rate: '5000/h', burst: 5000 }),
  tokenBucket({ rate: '1/day', burst: 3 }),
  tokenBucket({ rate: '1000000/s', burst: 1_000_000 }),
  tokenBucket({ rate: '1234567/d', burst: 1_234_567 }),
  tokenBucket({ rate: '0.333333/7s', burst: '2.5' }),
  tokenBucket({ rate: '333.333333/s', burst: 10_000 }),
]

/**
 * Random traces from a seed: few keys, groups of one to four limits, the same state twice, costs of a part of a token to more
 * than the capacity, limits that change under a key, ties, idle days, and time that runs backwards.
 */
export function* traces(seed: number, calls: number, start: Micros = 1_763_692_800_123_456): Generator<TraceStep> {
  const random = seeded(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  let now = start
  let made = 0
  const scope = { text: `trace:${seed}:` }
  const call = (): Call => {
    const limit = LIMITS[pick(LIMITS.length)] as AnyLimit
    return { id: { scope, key: `k${pick(12)}` }, limit, cost: costOf(limit, random), phase: 0 }
  }
  while (made < calls) {
    now += jump(random)
    const groups: CallGroup[] = []
    const wanted = 1 + pick(60)
    for (let group = 0; group < wanted && made < calls; group += 1) {
      const asked = consistent(Array.from({ length: 1 + pick(4) }, call))
      made += asked.length
      groups.push({ calls: asked })
    }
    yield { now, groups }
  }
}

/** Calls of one state in one group carry one limit: the first's. */
function consistent(calls: readonly Call[]): Call[] {
  return calls.map((call) => ({ ...call, limit: (calls.find((other) => other.id.key === call.id.key) as Call).limit }))
}

function costOf({ capacity }: AnyLimit, random: () => number): number {
  const kind = random()
  if (kind < 0.5) return MICRO
  if (kind < 0.6) return Math.round(capacity * MICRO)
  return Math.max(1, Math.round(random() * 1.1 * capacity * (kind < 0.8 ? MICRO : MICRO / 10)))
}

function jump(random: () => number): Micros {
  const kind = random()
  if (kind < 0.15) return 0
  if (kind < 0.3) return Math.floor(random() * 4)
  if (kind < 0.8) return Math.floor(random() * 2_000_000)
  if (kind < 0.9) return -Math.floor(random() * 2_000_000)
  return Math.floor(random() * 2 * 86_400_000_000)
}
