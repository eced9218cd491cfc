import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const page = read('docs/errors.md')
const headings = [...page.matchAll(/^### `?([\w-]+)`?$/gm)].map((match) => match[1] as string)

/** The texts of a union. Read as text: nothing of a type is left at run time. */
function unionOf(file: string, type: string): string[] {
  const union = new RegExp(`type ${type} =([^]*?)\\n\\n`).exec(read(file))?.[1] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map((match) => match[1] as string)
}
const codes = unionOf('packages/sluice/src/errors/limiter-error.ts', 'ErrorCode')
const kinds = unionOf('packages/sluice/src/stores/store.ts', 'StoreFailureKind')

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
