import type { Table } from '../result/table.ts'
import { ALLOWED_KEYS } from '../profiles.ts'
import type { Reading } from '../result/reading.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** The callers of a quick run. */
const QUICK = 64

const GOALS: readonly (readonly [callers: number, atMost: number])[] = [
  [1, 1.3],
  [64, 3],
]

/** Measures a request under several limits, which is still one call of the store. */
export const rules: RedisPart = {
  name: 'rules',
  title: 'four rules for one request (global, tenant, user, endpoint), against one of them',
  async run(options) {
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const [callers, atMost] of GOALS) {
      if (options.depth === 'quick' && callers !== QUICK) continue
      options.say(`one rule and four, ${callers === 1 ? 'one caller' : `${callers} callers`}`)
      const comparison = await compare(options, ALLOWED_KEYS, {
        oneBare: { rules: 1, ring: 'bare', callers },
        fourBare: { rules: 4, ring: 'bare', callers },
        one: { rules: 1, ring: 'sluice', callers },
        four: { rules: 4, ring: 'sluice', callers },
      })
      const at = callers === 1 ? '1 caller' : `${callers} callers`
      const goal = { atMost }
      readings.push(
        judge(comparison, { name: `bare, ${at}`, ours: 'fourBare', baseline: 'oneBare', as: 'time', goal }),
        judge(comparison, { name: `Sluice, ${at}`, ours: 'four', baseline: 'one', as: 'time', goal }),
      )
      tables.push({ ...comparison.table, name: `lanes-${callers}`, title: at })
    }
    const notes = ['Through the policy engine: 1,000 users of 20 tenants at 8 endpoints by turns, all of them under the global rule.']
    return { readings, tables, notes }
  },
}
