import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { pg } from '../../../src/stores/postgres/index.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { CORNERS, runCorner } from '../held-corners.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('corners of holds in PostgreSQL', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)
  const port = pg(pool)

  it.each(Object.keys(CORNERS))('%s', (name) => runCorner(store, (id) => readRow(port, id), name))
})
