import type { RedisOptions, RedisPart } from '../redis/redis-part.ts'
import { compare } from '../redis/comparison.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { ALLOWED, DENIED } from '../profiles.ts'
import { figure } from '../render/columns.ts'
import type { Plot } from '../result/plot.ts'
import type { Row, Table } from '../result/table.ts'
import { idleMemory } from './idle.ts'
import { pollArticle, type Polled, POLLS, pollSluice, TEN_IN_TEN } from './polls.ts'

const IDLE = { quick: { users: 3_000, refillMs: 4_000 }, full: { users: 100_000, refillMs: 12_000 } } as const
const WAYS: readonly Way[] = ['lua-clojure', 'bare', 'sluice']

/** The article's program in Redis against the Redis store. */
export const redisLua: RedisPart = {
  name: 'redis-lua',
  title: 'the token bucket in Redis Lua: time, memory of idle keys, and rounding',
  async run(options) {
    const tables = [...(await times(options)), await idleTable(options)]
    const article: Polled[] = []
    const ours: Polled[] = []
    options.say(`polls of ${POLLS.length} intervals`)
    for (const everyMs of POLLS) {
      article.push(await pollArticle(options.server.url, everyMs))
      ours.push(await pollSluice(everyMs))
    }
    return {
      tables: [...tables, pollTable(article, ours)],
      plots: [pollPlot(article, ours)],
      notes: [
        'The program is written anew with the article’s behaviour: two keys, rounding to whole tokens, a log line for each call, and no expiry. As in the article, it is called by its digest and gets the client’s time.',
        'For each call of the program, Redis writes a log line. Here the log is a pipe that the bench reads. On other servers it is a file or a journal, whose cost differs.',
        'The over-grant of these rows was measured with 64 callers on one key, with a burst of 10 and a rate of 10 a second. Every interval was compared with the limit by the server’s clock.',
      ],
    }
  },
}

async function times(options: RedisOptions): Promise<Table[]> {
  const tables: Table[] = []
  for (const [profile, callers] of [
    [ALLOWED, 1],
    [ALLOWED, 64],
    [DENIED, 64],
  ] as const) {
    const load = `${profile.answer === 'allowed' ? 'allowed' : 'denied'}-${callers}`
    options.say(`one key, ${profile.name}, ${callers} callers`)
    const one = { callers, keys: 'one' } as const
    const { table } = await compare(options, profile, {
      article: { way: 'lua-clojure', ...one },
      bare: { way: 'bare', ...one },
      sluice: { way: 'sluice', ...one },
    })
    tables.push({ ...table, name: load, title: `one key, ${callers === 1 ? 'one caller' : `${callers} callers`}, ${profile.name}` })
  }
  return tables
}

async function idleTable({ server, say, depth, grantOf }: RedisOptions): Promise<Table> {
  const { users } = IDLE[depth]
  const rows: Row[] = []
  for (const way of WAYS) {
    const contestant = wayOf(way)
    say(`${figure(users)} idle users, ${contestant.name}`)
    const { before, after, refused } = await idleMemory(server.url, contestant, IDLE[depth])
    const { overGrantPercent } = await grantOf(way)
    rows.push({
      name: contestant.name,
      kind: contestant.kind as 'ours',
      cells: { keys: before.keys, bytes: before.bytes, keysLater: after.keys, bytesLater: after.bytes },
      overGrant: overGrantPercent,
      wrongAnswers: refused,
    })
  }
  return {
    name: 'idle',
    title: `${figure(users)} users of one request each, and later, when all their limits are full again`,
    columns: [
      { key: 'keys', title: 'keys' },
      { key: 'bytes', title: 'a user', unit: 'bytes' },
      { key: 'keysLater', title: 'keys later' },
      { key: 'bytesLater', title: 'a user later', unit: 'bytes' },
    ],
    rows,
    rank: { column: 'bytesLater', best: 'least' },
    notes: [
      'The bytes of a user are used_memory of Redis with the keys, minus used_memory without them, divided by the users. A full bucket needs no state, so its key can expire.',
    ],
  }
}

/**
 * For each interval between two requests, the table has a row of the article's program and a row of Sluice. A token is refilled in a
 * second.
 */
export function pollTable(article: readonly Polled[], ours: readonly Polled[]): Table {
  const rowsOf = (polls: readonly Polled[], name: string, kind: 'baseline' | 'ours'): Row[] =>
    polls.map(({ everyMs, requests, allowed, overGrantPercent }) => ({
      name,
      kind,
      load: `every ${figure(everyMs)} ms`,
      cells: { requests, allowed },
      overGrant: overGrantPercent,
    }))
  const both = [rowsOf(article, wayOf('lua-clojure').name, 'baseline'), rowsOf(ours, 'Sluice, token bucket', 'ours')]
  return {
    name: 'polls',
    title: `requests at fixed intervals for 100 s, limit ${TEN_IN_TEN.burst} in 10 s`,
    columns: [
      { key: 'requests', title: 'requests' },
      { key: 'allowed', title: 'allowed' },
    ],
    rows: article.flatMap((_, index) => both.flatMap((rows) => rows[index] ?? [])),
    notes: [
      'The article’s program rounds half a token up to a whole one. So a client that calls every half second gets twice the rate, and one that calls a little less often gets less. If less than half a token has been refilled, a call is refused and changes nothing.',
    ],
  }
}

/** Over-grant against the time between two requests. */
export function pollPlot(article: readonly Polled[], ours: readonly Polled[]): Plot {
  const points = (polls: readonly Polled[]): { x: number; y: number }[] =>
    polls.map(({ everyMs, overGrantPercent }) => ({ x: everyMs, y: overGrantPercent }))
  return {
    name: 'polls',
    title: 'over-grant against the time between two requests; a token takes 1,000 ms',
    x: { title: 'milliseconds between requests' },
    y: { title: 'over-grant, %' },
    series: [
      { name: wayOf('lua-clojure').name, kind: 'baseline', points: points(article) },
      { name: 'Sluice, token bucket', kind: 'ours', points: points(ours) },
    ],
  }
}
