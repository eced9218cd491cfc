import type { Redis } from 'ioredis'
import { createEngine, type EngineDecision, parsePolicy } from 'sluice/policy'
import { ioredis, redisStore } from 'sluice/redis'
import { SOUND } from '../contestants/sluice.ts'
import { openWire } from '../wire.ts'
import type { CallersLane } from './batches.ts'
import type { LanePlace, OpenLane, RulesLane } from './lane-input.ts'
import { RINGS } from './rings.ts'

/** Name and key of each rule. The first rule is also measured alone. */
const RULES = [
  ['user', 'header:x-user'],
  ['global', ''],
  ['tenant', 'header:x-tenant'],
  ['endpoint', 'path:template'],
] as const

const USERS = 1_000
const TENANTS = 20
const ENDPOINTS = 8

/** Opens a lane (a measured limiter): a policy engine on states that no other lane uses. */
export async function openRulesLane({ rules, ring, callers }: RulesLane, { url, quota, space }: LanePlace): Promise<OpenLane> {
  const wire = await openWire(url, 1, SOUND)
  // Lanes (measured limiters) share the server, but not the states: each lane has its own prefix.
  const store = redisStore({ client: ioredis(wire.clients[0] as Redis), prefix: `${space}:`, ring: RINGS[ring] })
  const limit = `rate: ${quota.tokens}/${quota.per === '1d' ? 'd' : 's'}, burst: ${quota.burst}`
  const text = RULES.slice(0, rules).map(([name, key]) => `  - { name: ${name}, key: [${key}], ${limit} }`)
  const engine = createEngine({ policy: parsePolicy(['version: 1', 'rules:', ...text].join('\n')), store })
  const facts = Array.from({ length: USERS }, (_, user) => ({
    method: 'GET',
    path: `/api/service-${user % ENDPOINTS}/items`,
    headers: { 'x-user': `user-${10_000 + user}`, 'x-tenant': `tenant-${user % TENANTS}` },
  }))
  let next = 0
  const lane: CallersLane = {
    name: `${rules === 1 ? 'one rule' : 'four rules'}${ring === 'sluice' ? '' : `, ${ring}`}`,
    callers,
    invoke: () => {
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
      await store.close()
      await wire.close()
    },
  }
}
