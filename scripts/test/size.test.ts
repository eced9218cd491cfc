import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GOALS } from '../src/size.ts'

const ROOT = join(import.meta.dirname, '..', '..')

it('the names of sizes say what is measured, and each goal is that of one of them', () => {
  const names = (JSON.parse(readFileSync(join(ROOT, '.size-limit.json'), 'utf8')) as { name: string }[]).map(({ name }) => name)
  expect(names.filter((name) => !/^[\w/, ]+$/.test(name))).toEqual([])
  expect(names).toEqual(expect.arrayContaining([...GOALS.keys()]))
})
