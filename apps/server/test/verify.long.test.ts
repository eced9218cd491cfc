import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Ran, runBuilt } from './command.ts'
import { expectExact, SHORT } from './expect-exact.ts'

const { postgres } = inject('engines')
const folder = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const verify = (...args: readonly string[]): Promise<Ran> => runBuilt(['verify', ...SHORT, ...args])

describe('verify', () => {
  it('leaves no folder behind that was not there', async () => {
    expectExact(await verify('--store', `pglite:${join(folder, 'made', 'deep')}`, '--json'), 1)
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(postgres === undefined)('lets two processes ask a PostgreSQL, and leaves no schema', async () => {
    expectExact(await verify('--store', postgres as string, '--processes', '2', '--json'), 2)
    const client = new pg.Client({ connectionString: postgres })
    await client.connect()
    onTestFinished(() => client.end())
    expect((await client.query(`select nspname from pg_namespace where nspname like 'sluice\\_verify\\_%'`)).rows).toEqual([])
  })
})
