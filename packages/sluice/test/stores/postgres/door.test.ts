import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { pg, postgresStore, type PostgresStoreOptions } from '../../../src/postgres.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('postgresStore of sluice/postgres', () => {
  const { store: bare, pool, open, close } = ownStore(url, 4)
  beforeAll(open)
  afterAll(close)
  const openDoor = (options: Omit<PostgresStoreOptions, 'client'> = {}) =>
    postgresStore({ client: pg(pool), sweepEveryMs: 0, onWarning: () => {}, ...options })

  it('has a ring by default, and what is the store’s own', async () => {
    const store = openDoor()
    expect([store.name, store.breakerState, store.leasedTokens]).toEqual(['postgres', 'closed', 0])
    await store.migrate()
    await store.ready({ deadline: performance.now() + 10_000 })
    expect(await store.sweep()).toBe(0)
    await store.close()
  })

  it.each([undefined, false, { denials: false }] as const)('decides one limit together with a bare store: ring %j', async (ring) => {
    const store = openDoor(ring === undefined ? {} : { ring })
    const options = { name: JSON.stringify(ring) ?? 'default', limit: tokenBucket({ rate: '1/day', burst: 10 }), deadlineMs: 10_000 }
    const [one, other] = [store, bare].map((of) => createLimiter({ ...options, store: of }))
    await Promise.all(Array.from({ length: 6 }, () => one?.check('k')))
    expect(await other?.check('k')).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 3 }] })
    await store.close()
  })

  it.each<[unknown, string]>([
    [undefined, 'postgresStore: options are undefined, expected an object with client'],
    [{ client: pg(pool), ring: true }, 'postgresStore: ring is true'],
    [{ client: pg(pool), ring: { clock: undefined } }, 'postgresStore: ring is'],
    [{ client: pg(pool), ring: { batches: false } }, 'unknown option batches'],
    [{ client: pg(pool), rings: false }, 'postgresStore: unknown option rings'],
  ])('refuses %j', (options, message) => {
    expect(() => postgresStore(options as PostgresStoreOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(message) }),
    )
  })
})
