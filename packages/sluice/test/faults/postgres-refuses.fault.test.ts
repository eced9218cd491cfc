import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '@sluice/scripts/engines'
import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Decision, type Store, tokenBucket } from '../../src/index.ts'
import { digestOf } from '../../src/stores/postgres/encode.ts'
import { pg, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { migrations } from '../../src/stores/postgres/programs.gen.ts'
import { migratedPostgres, noPostgres, pooled } from './private-postgres.ts'
import { LATE } from './stopped.ts'
import { underFault, wait } from './under-fault.ts'
import { until } from './until.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const LOAD = { bound: 0, callers: 16, pauseMs: 20, deadlineMs: 250 } as const
const PATIENT_MS = 10_000

describe.skipIf(noPostgres)('a PostgreSQL that refuses', () => {
  let server: Engine
  beforeAll(async () => {
    server = await migratedPostgres()
  })
  afterAll(() => server?.stop())

  const limit = tokenBucket({ rate: '1/day', burst: 10 })
  /** A key of one run of a test. A test that is repeated because it was late finds no tokens spent. */
  const fresh = (name: string): string => `${name} ${performance.now()}`
  const checked = (store: Store, key: string, deadlineMs = PATIENT_MS): Promise<Decision> =>
    createLimiter({ limit, store, deadlineMs }).check(key)

  it('a backend killed by SIGKILL, so that the server throws out everybody and recovers: what was charged stays charged', async () => {
    const { pool, store } = pooled(server.url)
    const kept = fresh('kept')
    for (let turn = 0; turn < 7; turn += 1) expect((await checked(store, kept)).outcome).toBe('allowed')
    const { kinds } = await underFault({ store, ...LOAD, recoveryMs: 2_000 }, async () => {
      const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
      process.kill(rows[0]?.pid as number, 'SIGKILL')
      await until('it answers again', async () => (await pool.query('select 1')).rows.length === 1)
    })
    expect(['connection', 'unavailable', ...LATE]).toEqual(expect.arrayContaining([...kinds]))
    expect((await checked(store, kept)).limits[0]?.remaining).toBe(2)
  })

  it('a pool that others have emptied: undecided by the deadline, unsent, and served when it is given back', async () => {
    const { pool, store } = pooled(server.url, 4)
    const { kinds } = await underFault({ store, ...LOAD }, async () => {
      const held = await Promise.all(Array.from({ length: 4 }, () => pool.connect()))
      await wait(1_000)
      for (const client of held) client.release()
    })
    expect(['connection', ...LATE]).toEqual(expect.arrayContaining([...kinds]))
  })

  it('lock_timeout on a row that somebody holds: contention, and not a denial', async () => {
    const pool = new pgDriver.Pool({ connectionString: server.url, max: 2, options: '-c lock_timeout=100' })
    onTestFinished(() => pool.end())
    const { pool: other, store } = pooled(server.url, 2)
    await checked(store, 'locked')
    const holder = await other.connect()
    await holder.query('begin')
    await holder.query('select from sluice_state where id = $1 for update', [
      digestOf({ scope: { text: 'default:default:tb:' }, key: 'locked' }),
    ])
    const limited = barePostgresStore({ client: pg(pool) })
    // A call with a deadline would set a lock_timeout of its own.
    const calls = [{ id: { scope: { text: 'default:default:tb:' }, key: 'locked' }, limit, cost: 1_000_000, phase: 0 }]
    const failure: unknown = await verbs.decide(limited, [{ calls }]).catch((error: unknown) => error)
    await holder.query('rollback')
    holder.release()
    expect(failure).toMatchObject({ name: 'StoreFailure', kind: 'contention', executed: 'no' })
    expect((await checked(limited, 'locked')).limits[0]?.remaining).toBe(8)
  })

  it('read-only, as after a failover (25006): undecided, peeks are answered, and decided again once it may write', async () => {
    const { store } = pooled(server.url)
    const [looked, refused] = [fresh('looked'), fresh('refused')]
    await checked(store, looked)
    const admin = new pgDriver.Pool({ connectionString: server.url, max: 1, options: '-c default_transaction_read_only=off' })
    onTestFinished(() => admin.end())
    const readOnly = async (on: 'on' | 'off'): Promise<void> => {
      await admin.query(`alter system set default_transaction_read_only = ${on}`)
      await admin.query('select pg_reload_conf()')
    }
    const { kinds } = await underFault({ store, ...LOAD }, async () => {
      try {
        await readOnly('on')
        await until('nothing is written', async () => (await checked(store, refused)).degraded?.kind === 'readonly')
        expect((await createLimiter({ limit, store, deadlineMs: PATIENT_MS }).peek(looked)).limits[0]?.remaining).toBe(9)
        // Each connection learns of the setting by itself. The callers meet it too.
        await wait(200)
      } finally {
        await readOnly('off')
      }
    })
    expect([...kinds]).toContain('readonly')
  })

  it('without functions of this version: setup, and what to do about it', async () => {
    const { pool } = pooled(server.url, 1)
    await pool.query('create schema earlier')
    const old = new pgDriver.Pool({ connectionString: server.url, max: 1, options: '-c search_path=earlier' })
    onTestFinished(() => old.end())
    await old.query((migrations[0] as (typeof migrations)[number]).source)
    const decision = await checked(barePostgresStore({ client: pg(old) }), 'k')
    expect(decision).toMatchObject({ outcome: 'undecided', degraded: { kind: 'setup', executed: 'no' } })
    expect(decision.degraded?.message).toContain('run "sluice migrate --store URL"')
  })

  const small = smallDisk()
  it.skipIf(small === undefined)(
    'a full disk (53100; needs a file system of its own): new keys are undecided, keys that are there go on',
    async () => {
      const { pool, store } = pooled(server.url, 2)
      const folder = small as string
      // A tablespace belongs to the user that the server runs as.
      const { uid, gid } = statSync(`/proc/${server.pid}`)
      chownSync(folder, uid, gid)
      await pool.query(`create tablespace small location '${folder}'`)
      await pool.query('create schema small')
      const there = new pgDriver.Pool({ connectionString: server.url, max: 2, options: '-c search_path=small -c default_tablespace=small' })
      const full = barePostgresStore({ client: pg(there), sweepEveryMs: 0 })
      await full.migrate()
      await checked(full, 'before')
      const fill = async (): Promise<unknown> => {
        for (let from = 0; from < 400_000; from += 500) {
          const groups = Array.from({ length: 500 }, (_, place) => ({
            calls: [{ id: { scope: { text: 'full:' }, key: `k${from + place}` }, limit, cost: 1_000_000, phase: 0 }],
          }))
          try {
            await verbs.decide(full, groups)
          } catch (error) {
            return error
          }
        }
        return undefined
      }
      expect(await fill()).toMatchObject({
        name: 'StoreFailure',
        kind: 'memory',
        executed: 'no',
        message: expect.stringContaining('53100'),
      })
      expect((await checked(full, 'before')).outcome).toBe('allowed')
      await there.end()
      await pool.query('drop schema small cascade')
      await pool.query('drop tablespace small')
      expect((await checked(store, 'elsewhere')).outcome).toBe('allowed')
    },
  )
})

/** Makes a folder on a file system of 12 MB, and removes it after the tests. Undefined if this process may not mount one. */
function smallDisk(): string | undefined {
  if (noPostgres) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'sluice-small-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=0777', 'tmpfs', folder]).status === 0
  afterAll(() => {
    if (mounted) spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  return mounted ? folder : undefined
}
