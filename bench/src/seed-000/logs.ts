import type { Quota } from '../contestants/contestant.ts'
import { inChild } from '../in-child.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { figure } from '../render/columns.ts'
import type { Column, Row } from '../result/table.ts'
import { QUOTED } from './article.ts'
import { startCrowd } from './crowd.ts'
import type { LogsInput, LogsResult } from './logs-in-memory.ts'
import type { RowsInput, RowsResult } from './logs-in-postgres.ts'

const ENTRIES = 100
/** The users of the article. */
const SCALED = 100_000
/** The limit of each log. A log with ENTRIES entries is full, so its memory is the most that it can take. */
const FULL: Quota = { tokens: ENTRIES, per: '1d', burst: ENTRIES }
/** Bytes of an entry in the memory store: an instant and a sum of costs. */
const ENTRY_BYTES = 16

const COLUMNS: readonly Column[] = [
  { key: 'users', title: 'users' },
  { key: 'each', title: 'a user', unit: 'bytes' },
  { key: 'all', title: 'all of them', unit: 'bytes' },
]

/** The logs of some users in one store. */
export interface WeighedLogs {
  readonly name: string
  readonly kind: 'ours' | 'baseline'
  readonly users: number
  readonly bytesPerUser: number
  readonly overPercent: number
  readonly refused: number
}

/** The memory of sliding window logs, and what it grows to. */
export const logs: Part = {
  name: 'logs',
  title: `sliding window logs of ${ENTRIES} entries a user, which are full`,
  async run(options): Promise<PartResult> {
    const quick = options.depth === 'quick'
    const found = [
      await inMemory(10_000, options),
      ...(await inRedis(quick ? 300 : 10_000, options)),
      ...(await inPostgres(quick ? 200 : 2_000, options)),
    ]
    return logsResult(found)
  },
}

async function inMemory(users: number, options: PartOptions): Promise<WeighedLogs> {
  options.say(`${users} users in memory`)
  const input: LogsInput = { users, entries: ENTRIES }
  const result = await inChild<LogsResult>('logs-in-memory', input, { ...options, family: 'seed-000' })
  return weighed('Sluice, in memory', users, result)
}

async function inRedis(users: number, options: PartOptions): Promise<WeighedLogs[]> {
  const { url } = await options.engines.redis()
  const crowd = await startCrowd(1, options)
  const found: WeighedLogs[] = []
  for (const [way, name, kind] of [
    ['log', 'Sluice, Redis', 'ours'],
    ['zset-log', 'sorted set, Redis', 'baseline'],
  ] as const) {
    options.say(`${users} users in Redis, ${way}`)
    const order = { what: 'weigh', url, way, quota: FULL, key: 'user:', keys: users, charges: ENTRIES } as const
    const { bytesPerKey, refused, overPercent = 0 } = await crowd.weigh(order)
    found.push({ name, kind, users, bytesPerUser: bytesPerKey, refused, overPercent })
  }
  crowd.end()
  return found
}

async function inPostgres(users: number, options: PartOptions): Promise<WeighedLogs[]> {
  const { url } = await options.engines.postgres()
  options.say(`${users} users in PostgreSQL`)
  const input: RowsInput = { url, users, entries: ENTRIES }
  const result = await inChild<RowsResult>('logs-in-postgres', input, { ...options, family: 'seed-000' })
  const vacuumed = { ...result, bytesPerUser: result.vacuumedPerUser }
  return [weighed('Sluice, PostgreSQL', users, result), weighed('Sluice, PostgreSQL, after VACUUM FULL', users, vacuumed)]
}

function weighed(name: string, users: number, { bytesPerUser, refused, beyond }: LogsResult): WeighedLogs {
  return { name, kind: 'ours', users, bytesPerUser, refused, overPercent: (beyond / (users * ENTRIES)) * 100 }
}

/**
 * Makes the table: the measured bytes of each store, and the same computed for the 100,000 users of the article "Rate Limiting at Scale".
 */
export function logsResult(found: readonly WeighedLogs[]): PartResult {
  const quoted: Row = { name: 'in the article: not pruned', kind: 'quoted', cells: { users: SCALED, all: QUOTED.logsOf100000 } }
  const entries = ENTRIES * ENTRY_BYTES
  return {
    tables: [
      {
        name: 'logs',
        title: 'bytes of logs, with names, states and indexes',
        columns: COLUMNS,
        rows: [
          quoted,
          { name: 'entries alone, 16 bytes each', kind: 'computed', cells: { users: SCALED, each: entries, all: entries * SCALED } },
          ...found.flatMap(rowsOf),
        ],
        notes: [
          `The rows \`scaled\` show the bytes of a user times ${figure(SCALED)}. A log of Sluice has at most as many entries as its limit: ${ENTRIES} here, and never more than 10,000. It removes entries that have left the window when it decides. Denied requests add no entries.`,
          'For the over-grant, each user with a full log makes one more request, which must be denied.',
          'The bytes in Redis are used_memory with the keys, minus used_memory without them. Those in PostgreSQL are pg_total_relation_size. Each charge writes a new version of the row, and old versions stay until a vacuum.',
          'PostgreSQL compresses long states. The entries here are milliseconds apart, so they compress better than those of real users.',
        ],
      },
    ],
    figures: found,
  }
}

function rowsOf({ name, kind, users, bytesPerUser, overPercent, refused }: WeighedLogs): Row[] {
  return [
    { name, kind, cells: { users, each: bytesPerUser, all: bytesPerUser * users }, overGrant: overPercent, wrongAnswers: refused },
    { name: `${name}, scaled`, kind: 'computed', cells: { users: SCALED, each: bytesPerUser, all: bytesPerUser * SCALED } },
  ]
}
