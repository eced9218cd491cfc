import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { pg, postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import * as wrap from '../../src/stores/wrap/index.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { readRow, schema } from './postgres-rows.ts'

const { postgres: url } = inject('engines')

/** Deadlines are long: a commit takes its time where the disk is shared with others. */
const wrappers: readonly [name: string, wrap: (store: Store) => Store][] = [
  ['withDeadline', (store) => wrap.withDeadline(store, 10_000)],
  ['withFallback', (store) => wrap.withFallback(store, { policy: 'local', local: memoryStore() })],
  ['withObservers', (store) => wrap.withObservers(store, [{ onStoreCall: () => {} }])],
  ['withCoalescing', (store) => wrap.withCoalescing(store)],
  ['withDeniedCache', (store) => wrap.withDeniedCache(store)],
  ['withBreaker', (store) => wrap.withBreaker(store)],
  ['withLeases', (store) => wrap.withLeases(store, { afterCalls: 1, share: 1 })],
  ['resilient', (store) => wrap.resilient(store, { deadlineMs: 10_000, leases: { afterCalls: 1, share: 1 } })],
]

describe.skipIf(url === undefined).each(wrappers)('around PostgreSQL: %s', (name, around) => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  storeSuite(`${name}(postgres)`, {
    open: async () => {
      await own.create()
      const store = postgresStore({ client: pg(pool), sweepEveryMs: 0 })
      await store.migrate()
      return around(store)
    },
    differentialCalls: 3_000,
    readState: (id) => readRow(pg(pool), id),
    close: async () => {
      await pool.end()
      await own.drop()
    },
  })
})
