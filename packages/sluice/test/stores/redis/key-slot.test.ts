import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeKey, scopeOf, stateName } from '../../../src/keys/encode.ts'
import { keySlot, SLOTS } from '../../../src/stores/redis/key-slot.ts'

describe('slots of a cluster', () => {
  it.each([
    // The check value of the cluster specification, and slots that a server told (CLUSTER KEYSLOT).
    ['123456789', 0x31c3],
    ['', 0],
    ['foo', 12_182],
    ['somekey', 11_058],
    ['sluice:api:perUser:tb:user:42', 10_307],
  ])('of %j', (key, slot) => {
    expect(keySlot(key)).toBe(slot)
  })

  it('lie below their number', () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        const slot = keySlot(encodeKey(key))
        expect(Number.isInteger(slot) && slot >= 0 && slot < SLOTS).toBe(true)
      }),
      { seed: 4 },
    )
  })

  it('are never what a user says: no byte of theirs makes a hash tag', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[{}a-z:%]{0,20}$/),
      fc.constantFrom('{tag}', '{a}{b}', '}{', '%007b'),
    )
    fc.assert(
      fc.property(hostile, hostile, hostile, (limiter, limit, key) => {
        const name = `sluice:${stateName({ scope: scopeOf(limiter, limit, 'tb'), key })}`
        expect(name).not.toMatch(/[{}]/)
      }),
      { seed: 4, numRuns: 1_000 },
    )
  })
})
