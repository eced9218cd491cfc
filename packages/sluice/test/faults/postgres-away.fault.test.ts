import type { Engine } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLimiter } from '../../src/index.ts'
import { expectInTime } from './in-time.ts'
import { punctuality, startLoad } from './load.ts'
import { migrated, noPostgres, pooled, privatePostgres } from './private-postgres.ts'
import { noProcesses } from './process-tree.ts'
import { CALLERS, DEADLINE_MS, expectPunctual, LATE, plenty, report, stopUnderLoad } from './stopped.ts'
import { until } from './until.ts'

/**
 * The pause of a caller between two calls. Without it, a busy machine's disk could not commit all calls, and they would time out for that
 * reason alone.
 */
const PAUSE_MS = 100

describe.skipIf(noPostgres)('a PostgreSQL that goes away under load', () => {
  let server: Engine
  beforeAll(async () => {
    server = await privatePostgres()
  })
  afterAll(() => server?.stop())

  it('without the tables: undecided, and the answer says what to do', async () => {
    // No connection is lost here. One that takes longer than the pool's timeout would be another failure.
    const { store } = pooled(server.url, 8, 0)
    const decision = await createLimiter({ limit: plenty, store, deadlineMs: 5_000 }).check('k')
    expect(decision).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'setup', executed: 'no' } })
    expect(decision.degraded?.message).toContain('run "sluice migrate --store URL"')
  })

  it.skipIf(noProcesses).each(['deny', 'allow', 'local'] as const)(
    'stopped with all its processes, every call answers by its deadline: %s',
    async (policy) => {
      const { store } = pooled(server.url)
      await migrated(store)
      await stopUnderLoad(store, { policy, pid: server.pid, stoppedMs: 2_000, pauseMs: PAUSE_MS })
    },
  )

  it.skipIf(noProcesses)('stopped, with a pool that waits for ever: what was given up does not keep it from coming back', async () => {
    const { store } = pooled(server.url, 8, 0)
    await migrated(store)
    await stopUnderLoad(store, { policy: 'deny', pid: server.pid, stoppedMs: 5_000, pauseMs: PAUSE_MS })
  })

  it('every connection terminated: undecided at worst, then decided again', async () => {
    const { store } = pooled(server.url)
    await migrated(store)
    const limiter = createLimiter({ limit: plenty, store, deadlineMs: DEADLINE_MS })
    const load = startLoad(limiter, { callers: CALLERS, deadlineMs: DEADLINE_MS, pauseMs: PAUSE_MS })
    const { pool: other } = pooled(server.url, 1)
    try {
      await load.recovery()
      const from = performance.now()
      // A statement takes a millisecond or two, and a caller pauses for a hundred. So a round may end connections while no statement is
      // under way.
      const met = (): boolean => load.samples.some(({ decision }) => decision.degraded !== undefined)
      for (let round = 0; round < 5 || (round < 100 && !met()); round += 1) {
        await until('the pool for it is connected', () => other.query('select 1').then(() => true))
        await other.query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null')
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      const recovery = await load.recovery()
      const to = performance.now()
      await load.stop()
      const figures = punctuality(load, from, to, DEADLINE_MS)
      const degraded = load.samples.flatMap(({ decision }) => (decision.degraded === undefined ? [] : [decision]))
      const kinds = new Set(degraded.map(({ degraded: cause }) => cause?.kind))
      report('terminated', { ...figures, recovery, degraded: degraded.length, kinds: [...kinds].join(' ') })
      expect(degraded.length).toBeGreaterThan(0)
      expect(new Set(degraded.map(({ outcome, allowed }) => `${outcome} ${allowed}`))).toEqual(new Set(['undecided false']))
      expect(['connection', 'unavailable', ...LATE]).toEqual(expect.arrayContaining([...kinds]))
      expect(load.samples.some(({ decision }) => decision.outcome === 'denied')).toBe(false)
      expectPunctual(figures)
      expectInTime('the recovery', recovery - load.held(to - recovery, to).all, 1_000)
    } finally {
      await load.stop()
    }
  })
})
