import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import type { Reading } from '../reading.ts'
import { amount } from '../reading-text.ts'
import { figure, table } from '../report.ts'
import type { GrantInput, GrantResult } from './grant.ts'
import type { PostgresOptions } from './parts.ts'
import type { SessionsInput, SessionsResult } from './sessions.ts'
import type { SizeInput, SizeResult } from './size-hold.ts'

const KEYS = 1_000_000
const NAMES = { article: 'the article’s function', bare: 'Sluice, bare', sluice: 'Sluice' } as const

/** The article's eight sessions, under both isolation levels, with every failure counted. */
export const sessions: Part<PostgresOptions> = {
  name: 'sessions',
  title: 'the article’s eight sessions on one key: READ COMMITTED against SERIALIZABLE',
  async run(options) {
    const rows: string[][] = []
    const readings: Reading[] = []
    for (const isolation of ['read committed', 'serializable'] as const) {
      for (const way of ['article', 'bare', 'sluice'] as const) {
        options.say(`${way}, ${isolation}`)
        const input: SessionsInput = { url: options.url, seconds: options.seconds, isolation, way }
        const { total, perSecond, failures } = await inChild<SessionsResult>('sessions', input, { ...options, family: 'postgres' })
        const failed = Object.values(failures).reduce((sum, times) => sum + times, 0)
        const what = Object.entries(failures).map(([code, times]) => `${figure(times)} x ${code}`)
        rows.push([NAMES[way], isolation, figure(perSecond), figure(total), what.join(', ') || 'none'])
        readings.push({ name: `${way}, ${isolation}, failed`, unit: '%', value: (failed / total) * 100 })
      }
    }
    return {
      readings,
      notes: [
        table(['way', 'isolation', 'calls/s', 'calls', 'failures'], rows),
        'The article says of PostgreSQL that sessions wait "but will not fail": under SERIALIZABLE its function fails with 40001 wherever two of them meet,',
        'and under both its first calls fail with 23505 where several sessions insert the row.',
        'Sluice tries again, twice at most; what still meets others is undecided (contention), never denied. So is what is late (timeout): the deadline is the default.',
      ],
    }
  },
}

/** 64 clients on one key, and groups of four limits in random order. */
export const grants: Part<PostgresOptions> = {
  name: 'grants',
  title: '64 clients on one key, half of them in groups of four limits in random order, audited on the database’s timestamps',
  async run(options) {
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

/** What a key takes in table and index, and how many updates stay on their page. */
export const size: Part<PostgresOptions> = {
  name: 'size',
  title: `table and index at ${figure(KEYS)} keys, and updates that touch no index`,
  async run(options) {
    options.say(`${figure(KEYS)} keys`)
    const input: SizeInput = { url: options.url, keys: KEYS }
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
      notes: ['pg_table_size (with free space map and visibility map) and pg_indexes_size, without a vacuum in between.'],
    }
  },
}
