import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareTexts, recordOf } from '../src/migration-texts.ts'
import { tree } from './tree.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const texts: Readonly<Record<string, string>> = { one: 'create 1', two: 'create 2' }
const textOf = (name: string): string => texts[name] as string

describe('compareTexts', () => {
  it('hashes every text and names the recorded ones that changed', () => {
    const { texts: made, changed } = compareTexts([{ name: 'one', sha256: sha256('create one') }, { name: 'two' }], textOf)
    expect(made).toEqual([
      { name: 'one', sha256: sha256('create 1'), source: 'create 1' },
      { name: 'two', sha256: sha256('create 2'), source: 'create 2' },
    ])
    expect(changed).toEqual(['one'])
  })

  it('finds nothing in what it recorded', () => {
    const { texts: made } = compareTexts([{ name: 'one' }, { name: 'two' }], textOf)
    expect(compareTexts(JSON.parse(recordOf(made)) as { name: string }[], textOf).changed).toEqual([])
  })
})

describe('generate-programs', () => {
  const program = join(import.meta.dirname, '..', 'dist', 'generate-programs.js')
  const run = (...args: string[]): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })

  it('records a new migration, refuses a changed one, and takes it with --accept only', () => {
    const stores = tree({
      'postgres/sql/tables/migrations.json': '[{ "name": "0001-a" }]\n',
      'postgres/sql/tables/0001-a.sql': '-- for readers\ncreate table a ();\n',
    })
    const generated = (): string => readFileSync(join(stores, 'postgres/programs.gen.ts'), 'utf8')
    expect(run('--check', stores)).toMatchObject({ status: 1, stderr: expect.stringContaining('migrations.json is out of date') })
    expect(run(stores).status).toBe(0)
    expect(run('--check', stores)).toMatchObject({ status: 0, stderr: '' })
    expect(readFileSync(join(stores, 'postgres/sql/tables/migrations.json'), 'utf8')).toContain(sha256('create table a ();\n'))

    writeFileSync(join(stores, 'postgres/sql/tables/0001-a.sql'), '-- a comment is no text\ncreate table a ();\n')
    expect(run('--check', stores).status).toBe(0)

    const before = generated()
    writeFileSync(join(stores, 'postgres/sql/tables/0001-a.sql'), 'create table b ();\n')
    const refused = {
      status: 1,
      stderr: expect.stringContaining('postgres/sql/tables/0001-a.sql is not the text that was recorded') as string,
    }
    expect(run('--check', stores)).toMatchObject(refused)
    expect(run(stores)).toMatchObject(refused)
    expect(generated()).toBe(before)

    expect(run('--accept', stores).status).toBe(0)
    expect(generated()).toContain('create table b ();')
    expect(run('--check', stores).status).toBe(0)
  })
})
