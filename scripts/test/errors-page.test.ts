import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const page = read('docs/errors.md')
const headingsOf = (text: string): string[] => [...text.matchAll(/^### `?([\w-]+)`?$/gm)].map((match) => match[1] as string)
/** The headings of one part of the page: up to the next part. */
const headingsIn = (part: string): string[] => headingsOf(page.split(`\n## ${part}\n`)[1]?.split('\n## ')[0] ?? '')

/** The texts of a union type. They are read from the source file, because types do not exist at run time. */
function unionOf(file: string, type: string): string[] {
  const union = new RegExp(`type ${type} =([^]*?)\\n\\n`).exec(read(file))?.[1] ?? ''
  return [...union.matchAll(/'(\w+)'/g)].map((match) => match[1] as string)
}
const codes = unionOf('packages/sluice/src/errors/limiter-error.ts', 'ErrorCode')
const kinds = unionOf('packages/sluice/src/stores/store-failure.ts', 'StoreFailureKind')

describe('docs/errors.md', () => {
  it('has the heading that every error code points to', () => {
    expect(codes.length).toBeGreaterThan(5)
    expect(headingsIn('LimiterError').sort()).toEqual(codes.sort())
  })

  it('has the heading of every warning that names one', () => {
    const warnings = [...read('packages/sluice/src/http/counting.ts').matchAll(/`([A-Z_]+): \$\{/g)].map((match) => match[1] as string)
    expect(warnings.length).toBeGreaterThan(0)
    expect(headingsIn('Warnings').sort()).toEqual(warnings.sort())
  })

  it('has a heading for every kind of store failure', () => {
    expect(kinds.length).toBeGreaterThan(5)
    expect(headingsIn('StoreFailure').sort()).toEqual(kinds.sort())
  })
})
