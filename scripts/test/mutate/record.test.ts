import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Mutant, mutantsOf } from '../../src/mutate/mutants.ts'
import { openRecord } from '../../src/mutate/record.ts'
import { tree } from '../tree.ts'

const SOURCE = 'const a = b < c'
const [noticed, survivor] = mutantsOf('a.ts', SOURCE) as [Mutant, Mutant]

it('goes on where the run before was stopped, and tries again what may have changed', () => {
  const file = join(tree({ 'a.ts': SOURCE }), 'cache', 'mutants.json')
  const open = (source = SOURCE, tests = 'tests', fresh = false): readonly unknown[] => {
    const record = openRecord(file, new Map([['a.ts', source]]), [tests], fresh)
    return [record.statusOf(noticed), record.statusOf(survivor)]
  }
  expect(open()).toEqual([undefined, undefined])
  const record = openRecord(file, new Map([['a.ts', SOURCE]]), ['tests'], false)
  record.add(noticed, 'timeout')
  record.add(survivor, 'survived')
  expect(open()).toEqual(['timeout', 'survived'])
  expect(open(SOURCE, 'other tests')).toEqual(['timeout', undefined])
  expect(open(`${SOURCE}\n`)).toEqual([undefined, undefined])
  expect(open(SOURCE, 'tests', true)).toEqual([undefined, undefined])
  writeFileSync(file, '[["cut')
  expect(open()).toEqual([undefined, undefined])
})
