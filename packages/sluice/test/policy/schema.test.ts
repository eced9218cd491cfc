import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parsePolicy } from '../../src/policy/parse.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'
import { policySchema } from '../../src/policy/native/grammar.ts'
import { BAD, GOOD } from './corpus.ts'
import { mutations } from './mutations.ts'
import { draws } from '../draws.ts'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
const validate = ajv.compile(policySchema)

/** What the schema has against a text, with the text. */
function faults(text: string): unknown[] {
  return validate(parse(text)) ? [] : [text, ...(validate.errors ?? [])]
}

function* propertiesOf(schema: unknown): Generator<readonly [name: string, schema: { readonly description?: unknown }]> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') yield* Object.entries(value as Record<string, object>)
    yield* propertiesOf(value)
  }
}

function loads(text: string): boolean {
  try {
    parsePolicy(text)
    return true
  } catch (error) {
    if (error instanceof PolicyError) return false
    throw error
  }
}

describe('the schema of the native dialect', () => {
  it('is a schema, and the published file is its text (npx vitest run schema -u writes it)', async () => {
    expect(ajv.validateSchema(policySchema)).toBe(true)
    await expect(`${JSON.stringify(policySchema, undefined, 2)}\n`).toMatchFileSnapshot('../../policy.schema.json')
  })

  it('U7: every property has a description', () => {
    const missing = [...propertiesOf(policySchema)].filter(([, { description }]) => typeof description !== 'string' || description === '')
    expect(missing).toEqual([])
    expect([...propertiesOf(policySchema)].length).toBeGreaterThan(70)
  })

  it.each(GOOD)('accepts what loads: %j', (text) => {
    expect(loads(text)).toBe(true)
    expect(faults(text)).toEqual([])
  })

  it.each(BAD)('refuses what is refused: %j', (text) => {
    expect(loads(text)).toBe(false)
    expect(validate(parse(text))).toBe(false)
  })

  it('accepts every mutant that loads, and no text makes the parser fail in another way than by PolicyError', { timeout: 180_000 }, () => {
    let loaded = 0
    fc.assert(
      fc.property(mutations(GOOD), (text) => {
        if (!loads(text)) return
        loaded += 1
        expect(faults(text)).toEqual([])
      }),
      { seed: 20_261_123, numRuns: draws(3_000, 80) },
    )
    expect(loaded).toBeGreaterThan(draws(30, 0))
  })
})
