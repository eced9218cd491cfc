import { freePort } from '@sluice/scripts/engines'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pgDriver from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { noPostgres, privatePostgres } from '../faults/private-postgres.ts'
import { noProcesses } from '../faults/process-tree.ts'
import { until } from '../faults/until.ts'

const limit = tokenBucket({ rate: '40/s', burst: 80 })
const KEY: RegionalKey = { id: { scope: { text: 'default:default:tb:' }, key: 'k' }, limit }

describe.skipIf(noPostgres || noProcesses)('regionalStore over PostgreSQL, with rights that are sent, where a server is lost', () => {
  it.each(['a backend is killed, so the server recovers', 'it is stopped, and started on files of before'])(
    'admits no more than the limit, and goes on: %s',
    async (how) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-regions-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const kept = { folder, port: await freePort() }
      let server = await privatePostgres(kept)
      onTestFinished(() => server.stop())
      const pools = Array.from({ length: 3 }, () => {
        const pool = new pgDriver.Pool({ connectionString: server.url, max: 4, connectionTimeoutMillis: 5_000 })
        pool.on('error', () => {})
        onTestFinished(() => pool.end())
        return pool
      })
      const [pool] = pools as [pgDriver.Pool]
      // Two processes of one region, and one of the other.
      const [one, two] = pools.slice(1).map((own): RegionalStore => {
        const store = postgresStore({ client: pg(own), sweepEveryMs: 0, onWarning: () => {}, ring: { deadline: '5s', breaker: false } })
        return regionalStore({ store, self: 'eu', peers: ['us'], mode: 'escrow' })
      }) as [RegionalStore, RegionalStore]
      const other = regionalStore({ store: memoryStore(), self: 'us', peers: ['eu'], mode: 'escrow' })
      await postgresStore({ client: pg(pool) }).migrate()
      const limiters = [one, two, other].map((store) => createLimiter({ limit, store, onStoreFailure: 'deny', deadlineMs: 5_000 }))
      const exchangeAll = async (): Promise<void> => {
        for (let round = 0; round < 4; round += 1) await exchangeRemote(round % 2 === 0 ? one : two, other)
      }
      const since = performance.now()
      let admitted = 0
      const spend = async (index: number): Promise<number> => {
        let passed = 0
        while ((await limiters[index]?.check('k'))?.allowed ?? false) passed += 1
        admitted += passed
        return passed
      }
      // The buckets begin empty, so at most what the rate gives may pass, without a burst.
      const check = (): void => expect(admitted).toBeLessThanOrEqual((40 * (performance.now() - since)) / 1_000)
      const restart = async (): Promise<void> => {
        server = await privatePostgres(kept)
      }

      expect([await spend(0), await spend(2)]).toEqual([0, 0])
      await exchangeAll()
      expect(await one.remote?.status()).toEqual({ phase: other.phase, era: other.era })
      await until('the second process admits calls', async () => (await spend(1)) > 0)
      const copy = join(folder, 'copy')
      if (how.includes('files')) {
        await server.stop()
        expect(spawnSync('cp', ['-a', join(folder, 'data'), copy]).status).toBe(0)
        await restart()
        // A server that was started again is another run.
        await until('it answers', async () => (await spend(0)) === 0 && (await one.remote?.status())?.phase === 'learning')
        await exchangeAll()
      }
      expect(await one.remote?.give(KEY, 'us', 300)).toBe(true)
      // The other process of the region knows at once that 200 units are left.
      expect(await two.remote?.unitsOf(KEY)).toBe(200)
      await exchangeAll()
      expect(other.unitsOf?.(KEY)).toBe(800)
      await Promise.all([spend(0), spend(1), spend(2)])
      check()

      if (how.includes('files')) {
        await server.stop()
        renameSync(join(folder, 'data'), join(folder, 'lost'))
        renameSync(copy, join(folder, 'data'))
        await restart()
      } else {
        const client = await pool.connect()
        client.on('error', () => {})
        const { rows } = await client.query('select pg_backend_pid() as pid')
        process.kill(rows[0].pid, 'SIGKILL')
        await until('the connection is lost', async () =>
          client.query('select 1').then(
            () => false,
            () => true,
          ),
        )
        client.release(true)
      }
      await until('it answers again', async () => (await pool.query('select 1')).rowCount === 1)
      // The states of keys are still there. The region's record is lost in a crash, and does not count on an earlier copy of the files.
      expect((await pool.query('select from sluice_state')).rowCount).toBeGreaterThan(0)
      if (!how.includes('files')) expect((await pool.query('select from sluice_region')).rowCount).toBe(0)
      // The region holds nothing until its peers know the new run, because what it held before may have been sent or used.
      expect([await spend(0), await spend(1)]).toEqual([0, 0])
      await until('both have noticed', async () => (await two.remote?.status())?.phase === 'learning')
      await spend(2)
      check()
      await exchangeAll()
      expect([await one.remote?.unitsOf(KEY), other.unitsOf?.(KEY)]).toEqual([500, 500])
      await until('the region admits calls again', async () => (await spend(0)) + (await spend(1)) > 0)
      await spend(2)
      check()
    },
  )
})
