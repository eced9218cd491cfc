import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const page = read('docs/errors.md')
const headings = [...page.matchAll(/^### `?([\w-]+)`?$/gm)].map((match) => match[1] as string)

/** Read as text, because the kinds are a type: nothing of them is left at run time. */
const codes = [...read('packages/sluice/src/errors/codes.ts').matchAll(/^ {2}(\w+): '\w+',$/gm)].map((match) => match[1] as string)
const union = /type StoreFailureKind =([^]*?)\n\n/.exec(read('packages/sluice/src/stores/store.ts'))?.[1] ?? ''
const kinds = [...union.matchAll(/'(\w+)'/g)].map((match) => match[1] as string)

describe('docs/errors.md', () => {
  it('has the heading that every error code points to', () => {
    expect(codes.length).toBeGreaterThan(5)
    expect(headings.filter((heading) => heading === heading.toUpperCase()).sort()).toEqual(codes.sort())
  })

  it('has a heading for every kind of store failure', () => {
    expect(kinds.length).toBeGreaterThan(5)
    expect(headings.filter((heading) => heading === heading.toLowerCase()).sort()).toEqual(kinds.sort())
  })
})
