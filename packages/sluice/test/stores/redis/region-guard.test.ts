import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { bucketsProgram, guardProgram } from '../../../src/stores/redis/programs.gen.ts'
import { seeded } from '../../../src/testing/random.ts'
import { draws } from '../../draws.ts'

const { redis: url } = inject('engines')
const prefix = `guard-${process.pid}:`
const RUN = 'a run'
/** The share of the region: it refills one token a second, and its burst is so large that no test spends it. */
const [N, M, BURST] = [1, 1, 5_000_000_000]
const FAR = 4_000_000_000_000_000
/** How many calls one test decides at most. */
const KEYS = 5

interface Cell {
  readonly state: 'as known' | 'older' | 'of another plan' | 'absent' | 'kept'
  readonly rows: string | undefined
}

interface Known {
  readonly begins: string
  readonly shifted: number
  readonly settled: number
  /** How the rows of each cell begin. */
  readonly changes: readonly (string | number)[]
}

describe.skipIf(url === undefined)('guard.lua before buckets.lua', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const keys = Array.from({ length: KEYS }, (_, index) => `${prefix}{abc}limiter:limit:tb:k${index}`)
  const names = keys.map((key) => key.slice(prefix.length + '{abc}'.length))
  const text = guardProgram.source() + bucketsProgram.source()
  const values = (): Promise<unknown> => redis.mgetBuffer(...keys)
  const clear = async (): Promise<void> => void (await redis.del(...keys, `${prefix}region`, `${prefix}region:rows`))
  beforeAll(() => redis.connect())
  afterEach(clear)
  afterAll(async () => {
    await redis.quit()
  })

  const write = async (cells: readonly Cell[], begins: string, now: number): Promise<void> => {
    await clear()
    await redis.set(`${prefix}region`, begins)
    for (const [index, { state, rows }] of cells.entries()) {
      if (rows !== undefined) await redis.hset(`${prefix}region:rows`, names[index] as string, rows)
      if (state === 'absent') continue
      const seen = state === 'older' ? now - 3_000_000 : now - 1_000_000
      await redis.set(keys[index] as string, bucket(seen, state === 'of another plan' ? BURST - 1_000_000 : BURST, state === 'kept'))
    }
  }
  /** The two forms of the arguments, which say the same. */
  const decide = async ({ begins, shifted, settled, changes }: Known, brief: boolean): Promise<unknown> => {
    const count = changes.length
    const own = [N, M, BURST, 1_000_000, 0]
    const haveRows = changes.some((change) => change !== 0)
    const long = [0, N, M, BURST, settled, 1, haveRows ? count : -count]
    const guard = [begins, shifted, ...(brief ? [settled] : long), ...(haveRows ? changes : []), 4 * own.length + (brief ? 2 : 0)]
    return redis.callBuffer('eval', text, count + 1, ...keys.slice(0, count), `${prefix}region`, ...own, ...guard)
  }

  it('refuses what differs, with arguments in full and in brief, and charges nothing then', async () => {
    const random = seeded(20_261_128)
    const pick = <T>(...all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
    const seen = { decided: 0, region: 0, cells: 0 }
    for (let round = 0; round < draws(600, 120); round += 1) {
      const [seconds, micros] = (await redis.time()).map(Number) as [number, number]
      const now = seconds * 1_000_000 + micros
      const cells = Array.from({ length: pick(1, 1, 2, KEYS) }, (): Cell => ({
        state: pick('as known', 'as known', 'as known', 'kept', 'older', 'of another plan', 'absent'),
        rows: pick(undefined, undefined, '7 rows', '71 rows'),
      }))
      const right = cells.map(({ rows }) => (rows === undefined ? 0 : `${rows.split(' ')[0]} `))
      const changes = random() < 0.7 ? right : right.map((change) => pick(change, change, 0, '7 ', '71 '))
      const [shifted, settled, begins] = [
        pick(now - 2_000_000, now - 9_000_000),
        pick(0, 0, FAR),
        pick(`${RUN} 3 `, `${RUN} 3 `, `${RUN} 4 `),
      ]
      const known = { begins, shifted, settled, changes }
      const stale = cells.flatMap(({ state }, index) => {
        const isWrong = changes[index] !== right[index] || state === 'of another plan'
        return isWrong || (state === 'older' && shifted > now - 3_000_000) || (state === 'absent' && settled > now) ? [index + 1] : []
      })
      const expected = begins === `${RUN} 3 ` ? (stale.length > 0 ? stale : undefined) : [0]
      for (const brief of [true, false]) {
        await write(cells, `${RUN} 3 `, now)
        const before = await values()
        const reply = await decide(known, brief)
        expect({ brief, cells, known, stale: Array.isArray(reply) ? reply : undefined }).toEqual({ brief, cells, known, stale: expected })
        if (expected === undefined) expect(await values()).not.toEqual(before)
        else expect(await values()).toEqual(before)
      }
      seen[expected === undefined ? 'decided' : expected[0] === 0 ? 'region' : 'cells'] += 1
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(draws(50, 10))
  }, 60_000)

  it('compares the record also for calls that no share decides', async () => {
    const ask = (begins: string): Promise<unknown> =>
      redis.callBuffer('eval', text, 2, keys[0] as string, `${prefix}region`, N, M, BURST, 1_000_000, 0, begins, 0, 0, 20)
    await redis.set(`${prefix}region`, `${RUN} 3 `)
    expect(await ask(`${RUN} 4 `)).toEqual([0])
    expect(await redis.exists(keys[0] as string)).toBe(0)
    expect(await ask(`${RUN} 3 `)).toBeInstanceOf(Uint8Array)
    expect(await redis.exists(keys[0] as string)).toBe(1)
  })
})

/** The value of a bucket that is half empty (bucket-value.lua). */
function bucket(seen: number, burst: number, kept: boolean): Buffer {
  const zero = BigInt(seen - 2_000_000_000)
  const sizes: [bigint, number][] = kept
    ? [
        [0n, 7],
        [BigInt(seen), 7],
        [1_000_000_000n, 7],
        [BigInt(N), 7],
        [BigInt(M), 7],
        [BigInt(burst), 7],
      ]
    : [
        [0n, 3],
        [BigInt(seen) - zero, 5],
        [BigInt(N), 3],
        [BigInt(M), 5],
        [BigInt(burst), 5],
      ]
  return Buffer.from(
    [[(1n << 55n) + zero, 7] as [bigint, number], ...sizes].map(([value, size]) => value.toString(16).padStart(2 * size, '0')).join(''),
    'hex',
  )
}
