import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { pg, type PgLike } from '../../../src/stores/postgres/clients/pg.ts'

/** A pool of one client. The server ends its connection in the same packet that makes it ready, as `pg_terminate_backend` may do. */
function endedWhenReady(): PgLike & { readonly released: unknown[] } {
  const released: unknown[] = []
  const client = Object.assign(new EventEmitter(), {
    query: () => Promise.reject(new Error('Client has encountered a connection error and is not queryable')),
    release: (destroy: unknown) => void released.push(destroy),
  })
  return {
    released,
    options: { max: 1 },
    connect: (taken) => {
      taken(undefined, client)
      client.emit('error', Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }))
    },
    query: () => Promise.reject(new Error('not through a client of its own')),
  }
}

it('a connection that ends as it becomes ready rejects the statement, and does not end the process', async () => {
  const pool = endedWhenReady()
  await expect(pg(pool).query('select 1', [])).rejects.toThrow('not queryable')
  expect(pool.released).toEqual([true])
})

it('a pool that has no client to give rejects the statement with the reason', async () => {
  const pool: PgLike = { ...endedWhenReady(), connect: (taken) => taken(new Error('timeout exceeded when trying to connect')) }
  await expect(pg(pool).query('select 1', [])).rejects.toThrow('timeout exceeded')
})
