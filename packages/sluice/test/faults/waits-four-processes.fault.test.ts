import pgDriver from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type AnyLimit, fixedWindow, tokenBucket } from '../../src/index.ts'
import { barePostgresStore, pg } from '../../src/stores/postgres/index.ts'
import { audit } from '../../src/testing.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { startWorkers } from './workers.ts'

const { redis, postgres } = inject('engines')
const PROCESSES = 4

interface Task {
  readonly kind: 'redis' | 'postgres'
  readonly url: string
  readonly space: string
  /** In each process. */
  readonly waiters: number
  readonly limit: { readonly rate: string; readonly burst: number } | { readonly limit: number; readonly window: string }
}

interface Report {
  /**
   * For each waiter that passed, the instant at which it was allowed to start, by the store's clock. They are in the order in which the
   * waiters started.
   */
  readonly instants: readonly number[]
  readonly refused: number
  readonly early: number
  /** Calls of the store by the limiter. */
  readonly calls: number
  /**
   * How many batches the ring sent to the server. A batch that was sent again, because another process had locked its row, counts each
   * time.
   */
  readonly batches: number
}

async function waitTogether(task: Task, limit: AnyLimit): Promise<{ readonly calls: number; readonly batches: number }> {
  const workers = startWorkers('waits.worker.mjs', PROCESSES)
  onTestFinished(() => workers.stop())
  await workers.post(task)
  const reports = (await workers.post({ go: true })) as Report[]
  const instants = reports.flatMap((one) => one.instants).sort((one, other) => one - other)
  const sum = (of: (report: Report) => number): number => reports.reduce((total, one) => total + of(one), 0)
  const [calls, batches] = [sum((one) => one.calls), sum((one) => one.batches)]
  const [early, refused] = [sum((one) => one.early), sum((one) => one.refused)]
  const { overGrant } = audit(
    instants.map((at) => ({ at, cost: 1, allowed: true })),
    limit,
  )
  const waiters = PROCESSES * task.waiters
  // Within a process, one reply may overtake another. This is the most by which a waiter started before one with an earlier instant.
  const swapped = reports.map(({ instants: own }) => {
    let latest = 0
    return own.reduce((most, at) => Math.max(most, (latest = Math.max(latest, at)) - at), 0)
  })
  const seconds = (((instants.at(-1) as number) - (instants[0] as number)) / 1e6).toFixed(3)
  console.log(
    `${waiters} waiters of ${PROCESSES} processes on ${task.kind}, ${JSON.stringify(task.limit)}: ${(calls / waiters).toFixed(3)} store calls each ` +
      `in ${batches} batches, ${early} early, over-grant ${overGrant}, ${seconds} s, out of order within a process by at most ${Math.max(...swapped) / 1_000} ms`,
  )
  expect([refused, early, instants.length]).toEqual([0, 0, waiters])
  expect(overGrant).toBeLessThanOrEqual(0)
  return { calls: calls / waiters, batches: batches / waiters }
}

const BUCKET = { rate: '500/s', burst: 10 }
const WINDOW = { limit: 50, window: '200ms' }

describe('waiters of four processes on one key', () => {
  it.skipIf(redis === undefined)('Redis, a token bucket: one store call each, in the order of the store, none early', async () => {
    const task = { kind: 'redis', url: redis as string, space: `waits-${process.pid}:`, waiters: 250, limit: BUCKET } as const
    const { calls, batches } = await waitTogether(task, tokenBucket(BUCKET))
    expect([calls, batches < 1]).toEqual([1, true])
  })

  it.skipIf(redis === undefined)('Redis, a fixed window: at most two store calls each on average', async () => {
    const task = { kind: 'redis', url: redis as string, space: `waits-w-${process.pid}:`, waiters: 100, limit: WINDOW } as const
    expect((await waitTogether(task, fixedWindow(WINDOW))).calls).toBeLessThanOrEqual(2)
  })

  it.skipIf(postgres === undefined)('PostgreSQL, a token bucket: one store call each, in the order of the store, none early', async () => {
    const own = schema(postgres)
    await own.create()
    onTestFinished(() => own.drop())
    const pool = new pgDriver.Pool({ connectionString: postgres, max: 1, options: `-c search_path=${own.name}` })
    await barePostgresStore({ client: pg(pool) }).migrate()
    await pool.end()
    const task = { kind: 'postgres', url: postgres as string, space: own.name, waiters: 250, limit: BUCKET } as const
    const { calls, batches } = await waitTogether(task, tokenBucket(BUCKET))
    expect([calls, batches < 1]).toEqual([1, true])
  })
})
