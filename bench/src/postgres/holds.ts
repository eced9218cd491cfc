import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import { comparisonOf, judge } from '../redis/comparison.ts'
import type { CallersTimed } from '../redis/rounds.ts'
import type { Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { postgresGrants } from './grants.ts'
import type { HoldsInput } from './holds-lanes.ts'
import { ALLOWED, onPostgres, timesOf } from './parts.ts'

/** The callers of a quick run. */
const QUICK = 32
const WORKS = { check: 'check', reserve: 'reserve and settle', slot: 'slot' } as const

/** Measures what holds cost: two calls of the store each, batched like checks. */
export const holds: Part = {
  name: 'holds',
  title: 'a reservation with its settlement, and a slot taken and given back, against one check',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    const { tokens, per, burst } = ALLOWED
    const grant = await postgresGrants(options.url, options)('sluice')
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const callers of options.depth === 'quick' ? [QUICK] : [1, QUICK]) {
      const at = callers === 1 ? '1 connection' : `${callers} connections`
      options.say(at)
      const input: HoldsInput = {
        ...timesOf(options),
        url: options.url,
        quota: { tokens, per, burst },
        callers,
        works: Object.values(WORKS),
      }
      const timed = await inChild<readonly CallersTimed[]>('holds', input, { ...options, family: 'postgres' })
      const known = timed.map(() => ({ kind: 'ours', grant }) as const)
      const comparison = comparisonOf(ALLOWED, Object.keys(WORKS) as (keyof typeof WORKS)[], timed, known)
      readings.push(
        judge(comparison, { name: `reserve and settle, ${at}`, ours: 'reserve', baseline: 'check', as: 'time', goal: { atMost: 2.3 } }),
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
