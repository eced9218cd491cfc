import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type BarePostgresOptions, pg, type PostgresPort, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined).each(['lock', 'compare-and-swap'] as const)('ready() and statement_timeout: %s', (concurrency) => {
  const own = schema(url)
  const connect = (setting = '') => new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}${setting}` })
  const [endless, bounded] = [connect(), connect(' -c statement_timeout=1s')]
  const open = (pool: pgDriver.Pool, options: Partial<BarePostgresOptions>) =>
    barePostgresStore({ client: pg(pool), concurrency, sweepEveryMs: 0, ...options })
  beforeAll(async () => {
    await own.create()
    await open(endless, {}).migrate()
  })
  afterAll(async () => {
    await Promise.all([endless.end(), bounded.end()])
    await own.drop()
  })

  it('warns once where the server never ends a statement, and only there', async () => {
    const warnings: string[] = []
    const onWarning = (message: string): void => void warnings.push(message)
    const store = open(endless, { onWarning })
    await store.ready()
    await store.ready()
    expect(warnings).toEqual([expect.stringContaining('statement_timeout')])
    await open(bounded, { onWarning }).ready()
    expect(warnings).toHaveLength(1)
  })

  it('a warning that fails does not make ready() reject', async () => {
    const onWarning = vi.fn<() => void>(() => {
      throw new Error('no log')
    })
    await open(endless, { onWarning }).ready()
    expect(onWarning).toHaveBeenCalledOnce()
  })

  it('warns on the console by default', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await open(endless, {}).ready()
    expect(warn.mock.calls).toEqual([[expect.stringContaining('statement_timeout')]])
    warn.mockRestore()
  })

  it.each(['select', 'insert', 'update', 'delete'])('rejects for an account that lacks the right to %s', async (right) => {
    const role = `${own.name}_no_${right}`
    await endless.query(`create role ${role} login; grant usage on schema ${own.name} to ${role};
grant select, insert, update, delete on all tables in schema ${own.name} to ${role}`)
    const pool = connect(` -c statement_timeout=1s -c role=${role}`)
    try {
      await open(pool, {}).ready()
      await endless.query(`revoke ${right} on all tables in schema ${own.name} from ${role}`)
      await expect(open(pool, {}).ready()).rejects.toMatchObject({ name: 'StoreFailure', kind: 'setup', executed: 'no' })
    } finally {
      await pool.end()
      await endless.query(`drop owned by ${role}; drop role ${role}`)
    }
  })
})

it.each([true, undefined] as const)('an embedded database has no connections to lose: embedded %s', async (embedded) => {
  const query: PostgresPort['query'] = async (statement) =>
    statement.includes('current_setting') ? [{ reply: 'off', timeout: '0' }] : [{ reply: '{1763692800123456}' }]
  const warnings: string[] = []
  const client: PostgresPort = { query, run: async () => {}, ...(embedded && { embedded }) }
  await barePostgresStore({ client, onWarning: (message) => void warnings.push(message) }).ready()
  expect(warnings).toHaveLength(embedded === true ? 0 : 1)
})
