import { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import { perSecondOf, type Quota, TIME_TO_LIVE } from '../contestants/contestant.ts'
import { PROGRAM } from '../contestants/lua.ts'
import { programStats } from './command-stats.ts'
import { groupsUnder } from '../contestants/groups.ts'

export interface RedisTimeInput {
  readonly url: string
  readonly seconds: number
  readonly quota: Quota
}

/** For each lane (a measured limiter), Redis's own time for one decision in microseconds, round by round. */
export interface RedisTimeResult {
  readonly rounds: Readonly<Record<LaneName, readonly number[]>>
  /** Decisions that were not allowed, though all may pass. */
  readonly refused: number
}

const LANES = ['lua', 'alone', 'different16', 'same16', 'same128', 'empty16'] as const
export type LaneName = (typeof LANES)[number]

const KEYS = 50_000
/** Calls between two readings of the server's counters. They are few, so that other load on the machine affects few rounds. */
const CALLS = 24
const MIN_ROUNDS = 20
const WARM_ROUNDS = 10

/**
 * Measures the time of programs as Redis reports it (`INFO commandstats`). Lanes (measured limiters) take turns, and no other client sends
 * programs meanwhile.
 */
export async function measureRedisTime({ url, seconds, quota }: RedisTimeInput): Promise<RedisTimeResult> {
  const client = new Redis(url)
  const store = redisStore({ client: ioredis(client), ring: false })
  const groupOf = groupsUnder(quota)
  const [decide, nothing] = (await Promise.all([PROGRAM, 'return 1'].map((source) => client.script('LOAD', source)))) as [string, string]
  const [rate, { burst }] = [perSecondOf(quota), quota]
  let [next, refused] = [0, 0]
  const keyOf = (): string => `time:user:${10_000_000 + (next = (next + 1) % KEYS)}`
  const invoke = async (keys: readonly string[]): Promise<void> => {
    for (const { outcome } of await store.decide(keys.map(groupOf))) if (outcome !== 'allowed') refused += 1
  }
  const many = (count: number): string[] => Array.from({ length: count }, keyOf)
  const same = (count: number): string[] => {
    const key = keyOf()
    return Array.from({ length: count }, () => key)
  }
  const work: Readonly<Record<LaneName, { readonly decisions: number; readonly run: () => Promise<unknown> }>> = {
    lua: { decisions: 1, run: () => client.evalsha(decide, 1, `hash:${keyOf()}`, Date.now(), rate, burst, 1, TIME_TO_LIVE) },
    alone: { decisions: 1, run: () => invoke(many(1)) },
    different16: { decisions: 16, run: () => invoke(many(16)) },
    same16: { decisions: 16, run: () => invoke(same(16)) },
    same128: { decisions: 128, run: () => invoke(same(128)) },
    empty16: { decisions: 16, run: () => client.evalsha(nothing, 16, ...many(16)) },
  }
  const rounds: Record<LaneName, number[]> = { lua: [], alone: [], different16: [], same16: [], same128: [], empty16: [] }
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < WARM_ROUNDS + MIN_ROUNDS || performance.now() < until; round += 1) {
    for (const lane of round % 2 === 0 ? LANES : LANES.toReversed()) {
      const { decisions, run } = work[lane]
      const before = (await programStats(client)).micros
      // Calls are made one after the other. To make them concurrently would change nothing, because Redis does not count waiting.
      for (let call = 0; call < CALLS; call += 1) await run()
      const spent = (await programStats(client)).micros - before
      if (round >= WARM_ROUNDS) rounds[lane].push(spent / (CALLS * decisions))
    }
  }
  await store.close()
  await client.quit()
  return { rounds, refused }
}
