import type { Quota } from '../contestants/contestant.ts'
import { inChild } from '../in-child.ts'
import { figure } from '../render/columns.ts'
import type { ContestantRow, Table } from '../result/table.ts'
import type { BytesInput, BytesResult } from './bytes-hold.ts'
import type { RedisOptions } from './redis-part.ts'
import { type Way, wayOf } from './ways.ts'

const KEYS = { quick: 25_000, full: 50_000 } as const
const WAYS: readonly Way[] = ['lua', 'bare', 'flexible', 'express-store', 'fastify-plugin', 'upstash', 'upstash-bucket']
const QUOTA: Quota = { tokens: 1_000, per: '1d', burst: 1_000 }

/** The memory that a key needs under each way. */
export async function bytesTable(options: RedisOptions): Promise<Table> {
  const { server, depth, grantOf, say } = options
  const keys = KEYS[depth]
  const rows: ContestantRow[] = []
  let first = Number.NaN
  for (const way of WAYS) {
    say(`bytes a key of ${way}`)
    const input: BytesInput = { url: server.url, way, keys, quota: QUOTA }
    const { bytes, names, refused, undecided } = await inChild<BytesResult>('bytes', input, { ...options, family: 'redis' })
    if (Number.isNaN(first)) first = bytes
    const { name, kind } = wayOf(way)
    const cells = { bytes, ratio: bytes / first, names, undecided }
    rows.push({ name, kind: kind as ContestantRow['kind'], cells, overGrant: (await grantOf(way)).overGrantPercent, wrongAnswers: refused })
  }
  return {
    name: 'ways',
    title: `bytes a key at ${figure(keys)} keys of 24 characters, 1000 a day, burst 1000`,
    columns: [
      { key: 'bytes', title: 'a key', unit: 'bytes' },
      { key: 'ratio', title: 'against the first', unit: 'x' },
      { key: 'names', title: 'names in Redis', decimals: 2 },
      { key: 'undecided', title: 'undecided' },
    ],
    rows,
    rank: { column: 'bytes', best: 'least' },
    notes: [
      'Each key was charged twice. The bytes include the keys’ names in Redis with the prefix of each library, because no library works without its names. A request that ended undecided may have stored nothing.',
      'A sliding window that is implemented with two counters has two names for a key as soon as a second window has begun. Here each key has one name, because only one window had begun.',
    ],
  }
}
