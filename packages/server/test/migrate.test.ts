import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { run } from './command.ts'

const { postgres } = inject('engines')

describe.skipIf(postgres === undefined)('migrate --prune', () => {
  const name = `sluice_prune_${process.pid}`
  const url = new URL(postgres ?? 'postgres://127.0.0.1')
  const admin = new pg.Client({ connectionString: url.href })
  url.pathname = `/${name}`
  const there = new pg.Client({ connectionString: url.href })
  beforeAll(async () => {
    await admin.connect()
    await admin.query(`create database ${name}`)
    await there.connect()
  })
  afterAll(async () => {
    await there.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  const migrate = (...flags: readonly string[]) => run(['migrate', '--store', url.href, ...flags])
  const others = async (): Promise<number | null> =>
    (await there.query(`select from pg_proc where proname = 'sluice_other_01234567'`)).rowCount

  it('is refused without --yes while functions of another version are young', async () => {
    expect(await migrate()).toMatchObject({ code: 0, stderr: '' })
    await there.query(`create function sluice_other_01234567() returns int language sql as 'select 1';
insert into sluice_functions (name) values ('sluice_other_01234567')`)
    expect(await migrate('--prune')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'sluice: migrate: functions of another version were installed in the last seven days, among them sluice_other_01234567; processes of that version would fail: --yes drops them all the same\n',
    })
    expect(await others()).toBe(1)
    const ran = await migrate('--prune', '--yes')
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(/ is up to date, functions of other versions are gone\n$/), stderr: '' })
    expect(await others()).toBe(0)
  })

  it('says in one line why the server refuses it', async () => {
    await there.query(`alter database ${name} set default_transaction_read_only = on`)
    try {
      const ran = await migrate('--compat-function')
      expect([ran.code, ran.stdout]).toEqual([1, ''])
      expect(ran.stderr).toMatch(/^sluice: [^\n]* 25006 [^\n]*read-only[^\n]*\n$/)
    } finally {
      await there.query(`alter database ${name} reset default_transaction_read_only`)
    }
  })

  it('is what --yes is for', async () => {
    expect(await migrate('--yes')).toEqual({ code: 3, stdout: '', stderr: 'sluice: migrate: --yes is for --prune\n' })
  })
})
