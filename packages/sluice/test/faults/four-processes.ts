import pgDriver from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { pg, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { hammer, type Hammered, type Hammering } from './hammer.ts'

const ONE_KEY = { mode: 'exact', rate: 100, burst: 50, callers: 4, keys: 1 } as const

/** Registers a test: four processes call one key for `ms` milliseconds. Together they get no token too many and no token too few. */
export function fourProcesses(ms: number): void {
  const { redis, postgres } = inject('engines')

  describe('four processes on one key', () => {
    it.skipIf(redis === undefined)(`Redis, for ${ms} ms`, async () => {
      const hammered = await hammer({ ...ONE_KEY, kind: 'redis', url: redis as string, space: freshSpace(), ms })
      reports(hammered)
      expect(hammered.audit.overGrant).toBe(0)
      expect(hammered.admitted).toBe(hammered.permitted)
    })

    it.skipIf(postgres === undefined)(`PostgreSQL, for ${ms} ms`, async () => {
      const own = schema(postgres)
      await own.create()
      onTestFinished(() => own.drop())
      const pool = new pgDriver.Pool({ connectionString: postgres, max: 1, options: `-c search_path=${own.name}` })
      await barePostgresStore({ client: pg(pool) }).migrate()
      await pool.end()
      const hammered = await hammer({ ...ONE_KEY, kind: 'postgres', url: postgres as string, space: own.name, ms })
      reports(hammered)
      expect(hammered.audit.overGrant).toBe(0)
      expect(hammered.admitted).toBe(hammered.permitted)
    })
  })
}

/**
 * Registers the same test with 64 callers in each process. It runs on one key and on a thousand keys, with each of three wrappers around
 * the store.
 */
export function fourBusyProcesses(ms: number): void {
  const { redis } = inject('engines')
  const modes = ['exact', 'coalesced', 'leases'] as const
  const loads = [
    { keys: 1, rate: 2_000, burst: 1_000 },
    { keys: 1_000, rate: 10, burst: 20 },
  ]

  describe.skipIf(redis === undefined)('four processes of 64 callers', () => {
    it.each(modes.flatMap((mode) => loads.map((load) => ({ mode, ...load }))))(
      `called by $mode, $keys keys, for ${ms} ms`,
      { timeout: ms + 60_000 },
      async (load) => {
        const task: Hammering = { ...load, kind: 'redis', url: redis as string, space: freshSpace(), callers: 64, ms }
        const hammered = await hammer(task)
        reports(hammered)
        expect(hammered.audit.overGrant).toBe(0)
        expect(hammered.admitted).toBeGreaterThanOrEqual(load.burst)
        if (load.mode === 'leases' && load.keys === 1) expect(hammered.sources['lease']).toBeGreaterThan(0)
        if (load.mode === 'exact' && load.keys === 1) expect(hammered.admitted).toBe(hammered.permitted)
      },
    )
  })
}

function freshSpace(): string {
  return `hammer-${process.pid}-${performance.now().toFixed(0)}:`
}

function reports({ calls, admitted, permitted, sources, audit }: Hammered): void {
  const name = expect.getState().currentTestName ?? ''
  const from = Object.entries(sources).map(([source, count]) => `${count} by ${source}`)
  const most = permitted === undefined ? '' : `, ${permitted} permitted`
  console.log(`${name}: ${calls} calls (${from.join(', ')}), ${admitted} admitted${most}, over-grant ${audit.overGrant.toFixed(3)}`)
}
