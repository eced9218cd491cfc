import { ALLOWED_KEYS } from '../embedded/profiles.ts'
import { inChild } from '../in-child.ts'
import type { Reading } from '../reading.ts'
import { BATCH_MS, comparisonOf, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'
import type { RulesInput, RulesLane, RulesResult } from './rules-lanes.ts'

const GOALS: readonly (readonly [callers: number, atMost: number])[] = [
  [1, 1.3],
  [64, 3],
]

const LANES = {
  one: { rules: 1, around: 'nothing' },
  four: { rules: 4, around: 'nothing' },
  oneJoined: { rules: 1, around: 'coalescing' },
  fourJoined: { rules: 4, around: 'coalescing' },
  oneResilient: { rules: 1, around: 'resilient' },
  fourResilient: { rules: 4, around: 'resilient' },
} as const satisfies Readonly<Record<string, RulesLane>>

/** A request under several limits is still one call. */
export const rules: RedisPart = {
  name: 'rules',
  title: 'four rules for one request (global, tenant, user, endpoint), against one of them',
  async run(options) {
    const { server, seconds, say } = options
    const readings: Reading[] = []
    const notes: string[] = []
    for (const [callers, atMost] of GOALS) {
      say(`one rule and four, ${callers === 1 ? 'one caller' : `${callers} callers`}`)
      const { tokens, per, burst } = ALLOWED_KEYS
      const input: RulesInput = {
        url: server.url,
        pid: server.pid,
        seconds,
        batchMs: Math.min(BATCH_MS, seconds * 20),
        quota: { tokens, per, burst },
        callers,
        lanes: Object.values(LANES),
      }
      const { lanes } = await inChild<RulesResult>('rules', input, { ...options, family: 'redis' })
      const comparison = comparisonOf(ALLOWED_KEYS, Object.keys(LANES) as (keyof typeof LANES)[], lanes)
      const at = callers === 1 ? '1 caller' : `${callers} callers`
      const goal = { atMost }
      readings.push(
        judge(comparison, { name: `plain, ${at}`, ours: 'four', baseline: 'one', as: 'time', goal }),
        judge(comparison, { name: `coalescing, ${at}`, ours: 'fourJoined', baseline: 'oneJoined', as: 'time', goal }),
        judge(comparison, { name: `resilient, ${at}`, ours: 'fourResilient', baseline: 'oneResilient', as: 'time', goal }),
      )
      notes.push(`${at}:`, comparison.table)
    }
    notes.push('Through the policy engine: 1,000 users of 20 tenants at 8 endpoints by turns, all of them under the global rule.')
    return { readings, notes }
  },
}
