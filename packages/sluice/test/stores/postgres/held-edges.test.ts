import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { pg } from '../../../src/stores/postgres/index.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import { EDGE_TAGS, edgeTrace } from '../edge-traces.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('holds and slots in PostgreSQL at the instants and amounts at which something changes', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)
  const port = pg(pool)

  it.each(EDGE_TAGS)(
    '%s: as in the reference, with changed limits, blocks, and time that steps back',
    async (tag) => {
      for (let seed = 1; seed <= draws(60, 1); seed += 1) {
        await edgeTrace({ store, reference: new Reference(), numbersOf: (id) => readRow(port, id) }, tag, seed, 30)
      }
    },
    120_000,
  )
})
