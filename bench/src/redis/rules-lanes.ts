import type { Redis } from 'ioredis'
import { createEngine, type EngineDecision, parsePolicy } from 'sluice/policy'
import { ioredis, redisStore } from 'sluice/redis'
import type { Quota } from '../contestants/contestant.ts'
import { openWire } from '../wire.ts'
import { type CallersLane, type CallersTimed, interleaveCallers, type RoundsOptions } from './rounds.ts'
import { type Around, wrapped } from './wrappers.ts'

export interface RulesLane {
  /** `user` alone, or `global`, `tenant`, `user` and `endpoint`. */
  readonly rules: 1 | 4
  readonly around: Around
}

export interface RulesInput extends RoundsOptions {
  readonly url: string
  readonly quota: Quota
  readonly callers: number
  readonly lanes: readonly RulesLane[]
}

export interface RulesResult {
  /** In the order they were asked for. */
  readonly lanes: readonly CallersTimed[]
}

/** Name and key of each rule, the one that stands alone first. */
const RULES = [
  ['user', 'header:x-user'],
  ['global', ''],
  ['tenant', 'header:x-tenant'],
  ['endpoint', 'path:template'],
] as const

const USERS = 1_000
const TENANTS = 20
const ENDPOINTS = 8

/** Engines of one rule and of four under the same requests. */
export async function compareRules({ url, quota, callers, lanes, ...options }: RulesInput): Promise<RulesResult> {
  const opened: { lane: CallersLane; close: () => Promise<void> }[] = []
  for (const [index, lane] of lanes.entries()) opened.push(await openEngine(lane, `lane${index}`, { url, quota, callers }))
  const timed = await interleaveCallers(
    opened.map(({ lane }) => lane),
    options,
  )
  for (const { close } of opened) await close()
  return { lanes: timed }
}

async function openEngine(
  { rules, around }: RulesLane,
  space: string,
  { url, quota, callers }: Pick<RulesInput, 'url' | 'quota' | 'callers'>,
): Promise<{ lane: CallersLane; close: () => Promise<void> }> {
  const wire = await openWire(url, 1)
  // Lanes share the server, and no state: each has a prefix of its own.
  const plain = redisStore({ client: ioredis(wire.clients[0] as Redis), prefix: `${space}:` })
  const limit = `rate: ${quota.tokens}/${quota.per === '1d' ? 'd' : 's'}, burst: ${quota.burst}`
  const text = RULES.slice(0, rules).map(([name, key]) => `  - { name: ${name}, key: [${key}], ${limit} }`)
  const engine = createEngine({ policy: parsePolicy(['version: 1', 'rules:', ...text].join('\n')), store: wrapped(plain, around) })
  const facts = Array.from({ length: USERS }, (_, user) => ({
    method: 'GET',
    path: `/api/service-${user % ENDPOINTS}/items`,
    headers: { 'x-user': `user-${10_000 + user}`, 'x-tenant': `tenant-${user % TENANTS}` },
  }))
  let next = 0
  const lane: CallersLane = {
    name: `${rules === 1 ? 'one rule' : 'four rules'}${around === 'nothing' ? '' : `, ${around}`}`,
    callers,
    ask: () => {
      next = next + 1 === USERS ? 0 : next + 1
      return engine.decide(facts[next] as (typeof facts)[number])
    },
    passed: (answer) => {
      const decision = answer as EngineDecision
      if (decision.outcome === 'undecided') throw new Error(decision.degraded?.message ?? 'undecided')
      return decision.allowed
    },
    sent: () => wire.sent(),
  }
  return {
    lane,
    close: async () => {
      await engine.close()
      await wire.close()
    },
  }
}
