import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { concurrency, createLimiter, type Store } from '../../src/index.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import { migratedPostgres, noPostgres, pooled } from './private-postgres.ts'
import { noRedis, privateRedis } from './private-redis.ts'
import { wait } from './under-fault.ts'

const LIMIT = 12
const HOLD_MS = 1_500
const PROCESSES = 4
const KILLS = 8
/**
 * In microseconds, by how much `Date.now()` of the processes may differ from the server's clock. All run on one machine, and `Date.now()`
 * counts whole milliseconds.
 */
const CLOCKS = 3_000

interface Grant {
  readonly from: number
  readonly until: number
  readonly fence: number
  given?: number
  kept?: boolean
}

interface Report extends Partial<Grant> {
  readonly id: string
}

/** A server that one test has for itself: its address for other processes, a store on it, and how many states it has. */
interface Server {
  readonly address: { readonly kind: 'redis' | 'postgres'; readonly url: string }
  readonly store: Store
  states(): Promise<number>
}

async function inRedis(): Promise<Server> {
  const server = await privateRedis()
  onTestFinished(server.stop)
  const client = new Redis(server.url)
  onTestFinished(() => client.disconnect())
  return { address: { kind: 'redis', url: server.url }, store: bareRedisStore({ client: ioredis(client) }), states: () => client.dbsize() }
}

async function inPostgres(): Promise<Server> {
  const server = await migratedPostgres()
  onTestFinished(server.stop)
  const { pool, store } = pooled(server.url, 2, 5_000)
  const states = async (): Promise<number> => {
    await store.sweep()
    return (await pool.query<{ count: number }>('select count(*)::int as count from sluice_state')).rows[0]?.count ?? 0
  }
  return { address: { kind: 'postgres', url: server.url }, store, states }
}

describe.each([
  ['Redis', inRedis, noRedis],
  ['PostgreSQL', inPostgres, noPostgres],
])('processes that are killed while they hold slots on %s', (_, serve, isMissing) => {
  it.skipIf(isMissing)(
    'SIGKILL between acquire and release: never above the limit at any store instant, and no slot is lost for longer than its hold',
    async () => {
      const { address, store, states } = await serve()
      const grants = new Map<string, Grant>()
      const start = (): ChildProcess => {
        const child = fork(fileURLToPath(new URL('slots.worker.mjs', import.meta.url)), {
          execArgv: [],
          env: { ...process.env, NODE_OPTIONS: '' },
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        })
        onTestFinished(() => void child.kill('SIGKILL'))
        child.on('message', ({ id, ...report }: Report) => {
          const known = grants.get(id)
          if (known === undefined) grants.set(id, report as Grant)
          else Object.assign(known, report)
        })
        child.send({ ...address, limit: LIMIT, holdMs: HOLD_MS, callers: 6 })
        return child
      }
      const kill = async (child: ChildProcess): Promise<void> => {
        const gone = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
        child.kill('SIGKILL')
        await gone
      }
      const children = Array.from({ length: PROCESSES }, start)
      await expect.poll(() => grants.size).toBeGreaterThan(100)
      for (let turn = 0; turn < KILLS; turn += 1) {
        await kill(children.shift() as ChildProcess)
        children.push(start())
        const before = grants.size
        // The others go on.
        await expect.poll(() => grants.size).toBeGreaterThan(before)
        await wait(150)
      }
      // However slow the server is: at least one process holds a slot when it is killed.
      for (const child of children) child.send('keep')
      await expect.poll(() => [...grants.values()].some(({ kept }) => kept)).toBe(true)
      await Promise.all(children.map(kill))

      const all = [...grants.values()]
      const held = all.map(({ from, until, given }) => [from, given === undefined ? until : Math.min(until, given - CLOCKS)] as const)
      const events = held.flatMap(([from, to]) => (to > from ? [[from, 1] as const, [to, -1] as const] : []))
      let [live, most] = [0, 0]
      for (const [, by] of events.toSorted(([one, first], [other, second]) => one - other || first - second))
        most = Math.max(most, (live += by))
      expect(most).toBeLessThanOrEqual(LIMIT)
      expect(new Set(all.map(({ fence }) => fence)).size).toBe(all.length)

      const limiter = createLimiter({ limit: concurrency({ limit: LIMIT, holdMs: HOLD_MS }), store, deadlineMs: 10_000 })
      await expect.poll(async () => (await limiter.peek('k')).limits[0]?.remaining).toBe(LIMIT)
      // A key's state consists of its holders only. All holders have gone, so no state is left.
      await expect.poll(states).toBe(0)
    },
  )
})
