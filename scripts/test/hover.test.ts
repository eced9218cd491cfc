import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkHover } from '../src/hover.ts'

describe('U7: an editor has a text', () => {
  it('for every exported name, every member, and every property of the policy schema', () => {
    const { ok, text } = checkHover(join(import.meta.dirname, '..', '..'))
    expect(text).toMatch(/^\d{3,} names and members, \d{2,} properties of the schema, each with a text$/)
    expect(ok).toBe(true)
  })
})
