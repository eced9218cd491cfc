import { createLimiter, memoryStore } from 'sluice'
import { createEngine, parsePolicy } from 'sluice/policy'
import { interleave, type Lane, type Timed } from '../interleave.ts'
import { limitOf, type Profile } from '../profiles.ts'

export interface RulesInput {
  readonly seconds: number
  readonly profile: Profile
}

export interface RulesResult {
  /** One lane (a measured limiter) for each entry of COUNTS, then one for a `check` without an engine. */
  readonly lanes: readonly Timed[]
}

export const COUNTS = [1, 10, 100, 1_000] as const

const CALLS = 1_000
const WARM_UP = 10
const CLIENTS = 16

/** Compares engines with more and more rules. Only the last rule matches the request. */
export async function compareRules({ seconds, profile }: RulesInput): Promise<RulesResult> {
  const lanes = [...COUNTS.map((count) => engineLane(count, profile)), checkLane(profile)]
  return { lanes: await interleave(lanes, { calls: CALLS, warmUp: WARM_UP, seconds }) }
}

/** An engine whose rules have paths with the same beginning, as in one API. The keys are headers. */
function engineLane(count: number, profile: Profile): Lane {
  const limit = `rate: ${profile.tokens}/${profile.per === '1d' ? 'd' : 's'}, burst: ${profile.burst}`
  const rules = Array.from(
    { length: count },
    (_, index) => `  - { name: rule-${index}, match: { path: /api/service-${index}/** }, key: [header:x-api-key], ${limit} }`,
  )
  const policy = parsePolicy(['version: 1', 'rules:', ...rules].join('\n'))
  const engine = createEngine({ policy, store: memoryStore() })
  const facts = Array.from({ length: CLIENTS }, (_, client) => ({
    method: 'GET',
    path: `/api/service-${count - 1}/items/7`,
    headers: { 'x-api-key': `client-${client}` },
  }))
  return {
    name: `${count} rules`,
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) {
        const decision = await engine.decide(facts[call % CLIENTS] as (typeof facts)[number])
        if (decision.allowed) allowed += 1
      }
      return allowed
    },
  }
}

/** A floor: the check of a limiter, which every policy needs. */
function checkLane(profile: Profile): Lane {
  const limiter = createLimiter({ name: 'rules', limit: limitOf(profile) })
  const keys = Array.from({ length: CLIENTS }, (_, client) => `client-${client}`)
  return {
    name: 'check without a policy',
    async run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) if ((await limiter.check(keys[call % CLIENTS] as string)).allowed) allowed += 1
      return allowed
    },
  }
}
