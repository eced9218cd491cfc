import type { Engine } from '@sluice/scripts/engines'
import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import { pg, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { seeded } from '../../src/testing/random.ts'
import { migratedPostgres, noPostgres, pooled } from './private-postgres.ts'
import { LATE, report } from './stopped.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { underFault, wait } from './under-fault.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const SEED = 5
/** The deadline is long, because a commit may be slow on a disk that other programs use too. The network is what this file tests. */
const LOAD = { bound: 0, callers: 16, pauseMs: 20, deadlineMs: 250 } as const

describe.skipIf(noPostgres)('a PostgreSQL behind a bad network', () => {
  let server: Engine
  beforeAll(async () => {
    server = await migratedPostgres()
  })
  afterAll(() => server?.stop())

  /** A store with the timeouts that docs/stores/postgres.md advises: a connection that is silent for 400 ms is replaced by a new one. */
  async function behindProxy(): Promise<{ proxy: TcpProxy; store: Store }> {
    const url = new URL(server.url)
    const proxy = await tcpProxy(Number(url.port), seeded(SEED))
    url.port = String(proxy.port)
    const pool = new pgDriver.Pool({ connectionString: url.href, max: 8, connectionTimeoutMillis: 400, query_timeout: 400 })
    pool.on('error', () => {})
    onTestFinished(async () => {
      await proxy.stop()
      await pool.end()
    })
    return { proxy, store: barePostgresStore({ client: pg(pool) }) }
  }

  it('200 ms away with jitter: nobody waits longer than the deadline', async () => {
    const { proxy, store } = await behindProxy()
    const { kinds } = await underFault({ store, ...LOAD, deadlineMs: 100 }, async () => {
      proxy.faults.delayMs = [150, 250]
      await wait(1_500)
      proxy.faults.delayMs = [0, 0]
    })
    expect([...LATE]).toEqual(expect.arrayContaining([...kinds]))
    expect(kinds).toContain('timeout')
  })

  it('a hole that swallows everything: connections are replaced', async () => {
    const { proxy, store } = await behindProxy()
    const { kinds } = await underFault({ store, ...LOAD }, async () => {
      proxy.blackhole()
      await wait(1_500)
      proxy.heal()
    })
    expect(['connection', ...LATE]).toEqual(expect.arrayContaining([...kinds]))
    expect(proxy.connections).toBeGreaterThan(8)
  })

  it('one reply in ten lost after the commit: it counts as spent, and is not sent again', async () => {
    const { proxy, store } = await behindProxy()
    const ledger = tokenBucket({ rate: '1/day', burst: 10_000 })
    const calls = [{ id: { scope: { text: 'ledger:' }, key: 'one' }, limit: ledger, cost: 1_000_000, phase: 0 }]
    const counted = { allowed: 0, unknown: 0, unsent: 0 }
    await verbs.decide(store, [{ calls }])
    proxy.faults.lost = 0.1
    const caller = async (): Promise<void> => {
      for (let round = 0; round < 30; round += 1) {
        try {
          await verbs.decide(store, [{ calls }], { deadline: performance.now() + 2_000 })
          counted.allowed += 1
        } catch (error) {
          counted[error instanceof StoreFailure && error.executed === 'no' ? 'unsent' : 'unknown'] += 1
          await wait(5)
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    const { store: direct } = pooled(server.url, 1)
    const [seen] = await verbs.peek(direct, [{ calls }])
    // `remaining` also lacks the first call, and the token that the peek itself would take. So two are subtracted.
    const charged = 10_000 - (seen?.calls[0]?.remaining as number) - 2
    report('charged', { ...counted, charged })
    expect(counted.unknown).toBeGreaterThan(0)
    expect(charged).toBeGreaterThanOrEqual(counted.allowed)
    expect(charged).toBeLessThanOrEqual(counted.allowed + counted.unknown)
  })
})
