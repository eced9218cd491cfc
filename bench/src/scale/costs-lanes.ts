import { type CompiledLimit, createLimiter, type Limiter, memoryStore, type Store, tokenBucket } from 'sluice'
import { createEngine, parsePolicy } from 'sluice/policy'
import { interleave, type Lane, type Timed } from '../interleave.ts'
import { keysOf } from '../memory/many-keys.ts'
import { ALLOWED_KEYS, limitOf } from '../profiles.ts'
import { randomOrder } from '../random-order.ts'

/** What grows: the keys of a store, the rules of a policy, or the limits of one request. */
export type Growing = 'keys' | 'rules' | 'limits'

export interface CostsInput {
  readonly growing: Growing
  readonly sizes: readonly number[]
  readonly seconds: number
}

/** The lanes (measured limiters), and the over-grant under a burst of 10 at each size, both in the order of the sizes. */
export interface CostsResult {
  readonly lanes: readonly Timed[]
  readonly overGrantPercent: readonly number[]
}

const ORDER = 2 ** 16
const CLIENTS = 16
const CALLS: Readonly<Record<Growing, number>> = { keys: 10_000, rules: 500, limits: 2_000 }
const WARM_UP = 10
/** A limit that bites: a burst of 10, refilled within a day. */
const BITES = { rate: { tokens: 10, per: '1d' }, burst: 10 } as const
const TRIES = 1_000

/** Compares the cost of a decision in the memory store for several sizes, in one process: the code is the same for all. */
export async function compareCosts({ growing, sizes, seconds }: CostsInput): Promise<CostsResult> {
  const lanes = sizes.map((size) => LANES[growing](size))
  const timed = await interleave(lanes, { calls: CALLS[growing], warmUp: WARM_UP, seconds })
  const overGrantPercent: number[] = []
  for (const size of sizes) overGrantPercent.push(await biteOf[growing](size))
  return { lanes: timed, overGrantPercent }
}

const LANES: Readonly<Record<Growing, (size: number) => Lane>> = { keys: keysLane, rules: rulesLane, limits: limitsLane }

function keysLane(size: number): Lane {
  const limiter = createLimiter({ name: 'keys', limit: limitOf(ALLOWED_KEYS), store: memoryStore({ maxKeys: size }) })
  const keys = keysOf(size)
  const order = randomOrder(ORDER, size, 0x9e37_79b9)
  for (const key of keys) limiter.checkSync(key)
  let at = 0
  return {
    name: String(size),
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) {
        at = (at + 1) % ORDER
        if (limiter.checkSync(keys[order[at] as number] as string).allowed) allowed += 1
      }
      return allowed
    },
  }
}

function policyOf(size: number, limit: string, store: Store) {
  const rules = Array.from(
    { length: size },
    (_, index) => `  - { name: rule-${index}, match: { path: /api/service-${index}/** }, key: [header:x-api-key], ${limit} }`,
  )
  const engine = createEngine({ policy: parsePolicy(['version: 1', 'rules:', ...rules].join('\n')), store })
  const requests = Array.from({ length: CLIENTS }, (_, client) => ({
    method: 'GET',
    path: `/api/service-${size - 1}/items/7`,
    headers: { 'x-api-key': `client-${client}` },
  }))
  return { engine, requests }
}

/** Only the last rule matches. */
function rulesLane(size: number): Lane {
  const { engine, requests } = policyOf(size, 'rate: 300/d, burst: 10000000', memoryStore())
  return {
    name: String(size),
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1)
        if ((await engine.decide(requests[call % CLIENTS] as (typeof requests)[number])).allowed) allowed += 1
      return allowed
    },
  }
}

/** Makes a limiter with `size` limits. No run reaches them, except the last one if `last` is a small limit. */
function limiterOf(size: number, last: CompiledLimit = limitOf(ALLOWED_KEYS)): Limiter {
  const limits = Array.from({ length: size }, (_, index) => [`limit-${index}`, index + 1 === size ? last : limitOf(ALLOWED_KEYS)] as const)
  return createLimiter({ name: 'limits', limits: Object.fromEntries(limits) })
}

function limitsLane(size: number): Lane {
  const limiter = limiterOf(size)
  const keys = keysOf(CLIENTS)
  return {
    name: String(size),
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if (limiter.checkSync(keys[call % CLIENTS] as string).allowed) allowed += 1
      return allowed
    },
  }
}

/** The over-grant under a burst of 10 at this size, in percent: what passes beyond 10 requests. */
const biteOf: Readonly<Record<Growing, (size: number) => number | Promise<number>>> = {
  keys(size) {
    const limiter = createLimiter({ name: 'keys', limit: tokenBucket(BITES), store: memoryStore({ maxKeys: size }) })
    const keys = keysOf(size)
    for (const key of keys) limiter.checkSync(key)
    const last = keys.at(-1) as string
    // One token was spent while the store was filled.
    return overPercent(1 + countOf(() => limiter.checkSync(last).allowed))
  },
  async rules(size) {
    const { engine, requests } = policyOf(size, 'rate: 10/d, burst: 10', memoryStore())
    let passed = 0
    for (let call = 0; call < TRIES; call += 1) if ((await engine.decide(requests[0] as (typeof requests)[number])).allowed) passed += 1
    return overPercent(passed)
  },
  limits(size) {
    const limiter = limiterOf(size, tokenBucket(BITES))
    return overPercent(countOf(() => limiter.checkSync('one').allowed))
  },
}

function countOf(passes: () => boolean): number {
  let passed = 0
  for (let call = 0; call < TRIES; call += 1) if (passes()) passed += 1
  return passed
}

function overPercent(passed: number): number {
  return (Math.max(0, passed - BITES.burst) / BITES.burst) * 100
}
