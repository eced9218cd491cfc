import { ALLOWED } from '../profiles.ts'
import type { Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** The callers of a quick run. */
const QUICK = 64

/** Measures what holds cost: two calls of the store each, batched like checks. */
export const holds: RedisPart = {
  name: 'holds',
  title: 'a reservation with its settlement, and a slot taken and given back, against one check',
  async run(options) {
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const callers of options.depth === 'quick' ? [QUICK] : [1, QUICK]) {
      const at = callers === 1 ? '1 caller' : `${callers} callers`
      options.say(`holds, ${at}`)
      const comparison = await compare(options, ALLOWED, {
        check: { held: 'check', callers },
        reserve: { held: 'reserve and settle', callers },
        slot: { held: 'slot', callers },
        byHand: { byHand: 'programs', callers },
        empty: { byHand: 'empty', callers },
      })
      const reserve = { ours: 'reserve', as: 'time' } as const
      readings.push(
        judge(comparison, { ...reserve, name: `reserve and settle, ${at}`, baseline: 'check', floor: 'empty', goal: { atMost: 2.3 } }),
        judge(comparison, { ...reserve, name: `reserve and settle, ${at}, against programs by hand`, baseline: 'byHand' }),
        judge(comparison, { name: `slot, ${at}`, ours: 'slot', baseline: 'check', as: 'time' }),
      )
      tables.push({ ...comparison.table, name: `lanes-${callers}`, title: at })
    }
    return {
      readings,
      tables,
      notes: [
        'The requests use 100 keys in turn, and each takes one token or one slot. Reservations and slots are not audited: their rows repeat the over-grant of plain checks.',
      ],
    }
  },
}
