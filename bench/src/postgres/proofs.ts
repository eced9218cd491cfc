import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import type { Reading } from '../result/reading.ts'
import { amount } from '../render/cells.ts'
import { figure } from '../render/columns.ts'
import type { GrantInput, GrantResult } from './grant.ts'
import { onPostgres } from './parts.ts'
import type { SizeInput, SizeResult } from './size-hold.ts'

const KEYS = { quick: 50_000, full: 1_000_000 } as const
const NAMES = { bare: 'Sluice, bare', sluice: 'Sluice' } as const

/** Measures the over-grant of 64 clients on one key. Half of them call groups of four limits in random order. */
export const grants: Part = {
  name: 'grants',
  title: '64 clients on one key, half of them in groups of four limits in random order, audited on the database’s timestamps',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    const readings: Reading[] = []
    for (const ring of ['bare', 'sluice'] as const) {
      const name = NAMES[ring]
      options.say(name)
      const input: GrantInput = { url: options.url, seconds: options.seconds * 5, ring }
      const { total, audit, deadlocks } = await inChild<GrantResult>('grant', input, { ...options, family: 'postgres' })
      readings.push(
        {
          name: `over-grant, ${name}`,
          unit: '%',
          value: Math.max(0, audit.overGrantPercent),
          goal: { atMost: 0 },
          ours: `${figure(total)} calls`,
        },
        { name: `deadlocks, ${name}`, unit: 'calls', value: deadlocks, goal: { atMost: 0 } },
      )
    }
    return { readings, notes: [`${figure(options.seconds * 5)} s each; --seconds 6 makes it 30.`] }
  },
}

/** Measures the bytes of a key in table and index, and how many updates need no new index entry (HOT). */
export const size: Part = {
  name: 'size',
  title: 'table and index at 1,000,000 keys (in a quick run 50,000), and updates that touch no index',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    const keys = KEYS[options.depth]
    options.say(`${figure(keys)} keys`)
    const input: SizeInput = { url: options.url, keys }
    const { made, updated, updates, hotPercent } = await inChild<SizeResult>('size', input, { ...options, family: 'postgres' })
    const parts = (of: SizeResult['made']): string => `table ${amount(of.table, 'bytes')}, index ${amount(of.index, 'bytes')}`
    return {
      readings: [
        { name: 'a key', unit: 'bytes', value: made.table + made.index, goal: { atMost: 128 }, ours: parts(made) },
        {
          name: `a key, after ${figure(updates)} updates`,
          unit: 'bytes',
          value: updated.table + updated.index,
          goal: { atMost: 128 },
          ours: parts(updated),
        },
        { name: 'HOT updates', unit: '%', value: hotPercent, goal: { atLeast: 95 }, ours: `${figure(updates)} updates` },
      ],
      notes: ['Bytes are pg_table_size (with free space map and visibility map) and pg_indexes_size. No vacuum ran after the writes.'],
    }
  },
}
