import pgDriver from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { pg, postgresStore } from '../../src/stores/postgres/index.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { hammer, type Hammered } from './hammer.ts'

/** Registers: four processes on one key for this long over-grant nothing, and lose nothing either. */
export function fourProcesses(ms: number): void {
  const { redis, postgres } = inject('engines')

  describe('four processes on one key', () => {
    it.skipIf(redis === undefined)(`Redis, for ${ms} ms`, async () => {
      const space = `hammer-${process.pid}-${performance.now().toFixed(0)}:`
      verify(await hammer({ kind: 'redis', url: redis as string, space, ms }))
    })

    it.skipIf(postgres === undefined)(`PostgreSQL, for ${ms} ms`, async () => {
      const own = schema(postgres)
      await own.create()
      onTestFinished(() => own.drop())
      const pool = new pgDriver.Pool({ connectionString: postgres, max: 1, options: `-c search_path=${own.name}` })
      await postgresStore({ client: pg(pool) }).migrate()
      await pool.end()
      verify(await hammer({ kind: 'postgres', url: postgres as string, space: own.name, ms }))
    })
  })
}

export function told(hammered: Hammered): void {
  console.log(
    `${expect.getState().currentTestName}: ${hammered.calls} calls, ${hammered.admitted} admitted, ` +
      `${hammered.permitted} permitted, over-grant ${hammered.overGrant}`,
  )
}

function verify(hammered: Hammered): void {
  told(hammered)
  expect(hammered.overGrant).toBe(0)
  expect(hammered.admitted).toBe(hammered.permitted)
}
