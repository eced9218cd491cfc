import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'

const page = readFileSync(new URL('../../../../docs/fairvisor.md', import.meta.url), 'utf8')
const fences = [...page.matchAll(/^```json[^\n]*\n(.*?)^```$/gms)].map(([, text = '']) => text)

describe("the page about rules of Fairvisor's Token Bucket", () => {
  it('has policies', () => expect(fences.length).toBeGreaterThanOrEqual(3))

  it.each(fences.map((text, index) => [index + 1, text] as const))('policy %d loads, strictly', (_, text) => {
    expect(parsePolicy(text, { format: 'json', strict: true }).dialect).toBe('bundle')
  })
})
