import type { Redis } from 'ioredis'
import { stateName } from '../../../src/keys/encode.ts'
import { KEPT_MS, type SwapBackend, type SwapRow } from '../../../src/stores/families/compare-and-swap.ts'
import { StoreFailure } from '../../../src/stores/store.ts'

/** A row's value is the text `version|expiresAt|until|numbers`. One program reads rows and the time, the other writes all rows or none. */
const READ = `local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.call('GET', key) or '' end
return { redis.call('TIME'), found }`
const WRITE = `local time = redis.call('TIME')
local kept = time[1] * 1000 + math.floor(time[2] / 1000) + 1 + ${KEPT_MS}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if (value and string.match(value, '^%d+') or '0') ~= ARGV[3 * i - 2] then return 0 end
end
for i, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[3 * i - 1], 'PXAT', math.max(redis.call('PEXPIRETIME', key), ARGV[3 * i], kept))
end
return 1`
/** If a test gives the time, rows are kept for an hour of real time. A call without a time never shortens that. */
const HOUR_MS = 3_600_000

/** A store of another database, in as few lines as it takes. */
export function redisBackend(client: Redis, prefix: string): SwapBackend {
  return {
    name: 'redis by compare-and-swap',
    clock: 'server',
    idOf: (id) => prefix + stateName(id),
    read: async (ids) => {
      const [time, found] = (await client.eval(READ, ids.length, ...ids)) as [[string, string], string[]]
      const rows = new Map(ids.flatMap((id, index): [string, SwapRow][] => (found[index] ? [[id, rowOf(found[index])]] : [])))
      return { rows, now: Number(time[0]) * 1_000_000 + Number(time[1]) }
    },
    write: async (writes, options) => {
      const args = writes.flatMap(({ version, next, expiresAt, until, numbers }) => [
        version,
        [next, expiresAt, until, numbers.join(' ')].join('|'),
        options?.now === undefined ? Math.ceil(Math.max(expiresAt, until, 1) / 1_000) : Date.now() + HOUR_MS,
      ])
      return (await client.eval(WRITE, writes.length, ...writes.map(({ id }) => id), ...args)) === 1
    },
    classify: (error) => new StoreFailure('connection', 'unknown', String(error)),
  }
}

export function rowOf(value: string): SwapRow {
  const [version = '', expiresAt, until, numbers = ''] = value.split('|')
  return {
    version,
    expiresAt: Number(expiresAt),
    until: Number(until),
    numbers: numbers === '' ? [] : numbers.split(' ').map(Number),
  }
}
