import fc from 'fast-check'
import { Redis } from 'ioredis'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { encodeKey, scopeOf } from '../../../src/keys/encode.ts'
import { ioredis, bareRedisStore } from '../../../src/stores/redis/index.ts'
import { keySlot, SLOTS } from '../../../src/stores/redis/key-slot.ts'
import { calledOf, namedOf, packedLayout, plainLayout } from '../../../src/stores/redis/layout.ts'
import { tagOf } from '../../../src/stores/redis/names.ts'
import { createPacking } from '../../../src/stores/redis/packed/packing.ts'
import type { Call } from '../../../src/stores/store.ts'
import { TENS } from '../../../src/testing/limits.ts'
import { plainName } from './plain-name.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { anyText } from '../../any-text.ts'

const hostile = fc.oneof(
  anyText(),
  fc.stringMatching(/^[{}a-z:%]{0,20}$/),
  fc.constantFrom('{tag}', '{a}{b}', '}{', '%007b', 'x'.repeat(300)),
)

describe('slots of a cluster', () => {
  it.each([
    // The first key has the check value of the Cluster specification. For the others, CLUSTER KEYSLOT of a server returned these slots.
    ['123456789', 0x31c3],
    ['', 0],
    ['foo', 12_182],
    ['somekey', 11_058],
    ['sluice:api:perUser:tb:user:42', 10_307],
  ])('of %j', (key, slot) => {
    expect(keySlot(key)).toBe(slot)
  })

  it.each([
    // The examples of the specification.
    ['{user1000}.following', 'user1000'],
    ['foo{{bar}}zap', '{bar'],
    ['foo{bar}{zap}', 'bar'],
    ['a}b{c}', 'c'],
  ])('of %j are those of its tag, %j', (key, tag) => {
    expect(keySlot(key)).toBe(keySlot(tag))
  })

  it.each(['foo{}{bar}', 'foo{bar', 'foo}bar{'])('of %j, which has no tag, are those of the whole', (key) => {
    const whole = Buffer.from(key)
    let crc = 0
    for (const byte of whole) {
      crc ^= byte << 8
      for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff
    }
    expect(keySlot(key)).toBe(crc % SLOTS)
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

  it('are never what a user says: of all bytes only our own tag is in braces', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (limiter, limit, key) => {
        const name = plainName('sluice:', { scope: scopeOf(limiter, limit, 'tb'), key })
        expect(name).toMatch(/^sluice:\{[\w-]{3}\}[^{}]*$/)
      }),
      { seed: 4, numRuns: 1_000 },
    )
  })
})

describe('names of states', () => {
  it.each([
    ['user:42', 'sluice:{2Zn}api:perUser:tb:user:42'],
    ['{user:42}', 'sluice:{9-p}api:perUser:tb:%007buser:42%007d'],
  ])('of %j begin with a tag of the encoded key', (key, name) => {
    expect(plainName('sluice:', { scope: scopeOf('api', 'perUser', 'tb'), key })).toBe(name)
  })

  it('without a scope have no tag: nothing else is of that key', () => {
    expect(plainName('rl:', { scope: { text: '' }, key: 'ada' })).toBe('rl:ada')
  })

  it('of all limits of one key lie in one slot, whatever the key and the limits are called', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, fc.constantFrom('', 'sluice:', 'app|1:'), (limiter, one, other, key, prefix) => {
        const slots = [one, other].flatMap((limit) =>
          ['tb', 'sl'].map((tag) => keySlot(plainName(prefix, { scope: scopeOf(limiter, limit, tag), key }))),
        )
        expect(new Set(slots).size).toBe(1)
      }),
      { seed: 4, numRuns: 1_000 },
    )
  })

  it.each([
    ['plain', (prefix: string) => plainLayout(prefix)],
    ['packed', (prefix: string) => packedLayout(prefix, createPacking(prefix, { keys: 1_000 }))],
  ] as const)('of the %s layout lie in the slot that it computes of the key alone', (_, open) => {
    fc.assert(
      fc.property(hostile, hostile, fc.constantFrom('', 'tb', 'sl'), fc.constantFrom('', 'rl:', 'app|1:'), (limit, key, tag, prefix) => {
        const layout = open(prefix)
        const id = { scope: tag === '' ? { text: '' } : scopeOf('api', limit, tag), key }
        expect(layout.slotOf(id)).toBe(keySlot(layout.addressesOf([namedOf(id)]).keys[0] as string))
      }),
      { seed: 4, numRuns: 1_000 },
    )
  })

  it('of all limits of one key lie in one slot in the packed layout too, logs with the hash of the others', () => {
    const { addressesOf } = packedLayout('sluice:', createPacking('sluice:', { keys: 100_000 }))
    const hashes = new Set<string>()
    for (let index = 0; index < 200; index += 1) {
      const states = Object.entries(TENS).map(([tag, limit]) => calledOf(callOf(scopeOf('api', tag, tag).text, `user:${index}`, limit)))
      const { keys } = addressesOf(states)
      expect(new Set(keys.map(keySlot)).size).toBe(1)
      expect(keys.filter((key) => !key.endsWith('}'))).toEqual([expect.stringMatching(/^sluice:\{\d+\}api:sl:sl:user:\d+$/)])
      hashes.add(keys[0] as string)
    }
    expect(hashes.size).toBeGreaterThan(150)
  })

  it('fill all slots evenly: each has 8 tags or more, and keys that count up are spread over them', () => {
    const digits = [...new Set(Array.from({ length: 4_096 }, (_, index) => tagOf(`d${index}`).split('')).flat())]
    expect(digits).toHaveLength(64)
    const tags = new Uint32Array(SLOTS)
    for (const one of digits) for (const two of digits) for (const three of digits) tags[keySlot(`{${one}${two}${three}}`)]! += 1
    expect(Math.min(...tags)).toBeGreaterThanOrEqual(8)
    expect(Math.max(...tags)).toBeLessThanOrEqual(24)
    const thirds = [0, 0, 0]
    for (let index = 0; index < 30_000; index += 1) thirds[Math.floor((keySlot(`{${tagOf(`user:${index}`)}}`) * 3) / SLOTS)]! += 1
    // Five standard deviations.
    for (const count of thirds) expect(Math.abs(count - 10_000)).toBeLessThan(5 * Math.sqrt(10_000 * (2 / 3)))
  })
})

describe.skipIf(inject('engines').redis === undefined)('a store of slots', () => {
  it.each(['plain', 'packed'] as const)('sends one call for a group of three limits of one key, in the %s layout', async (layout) => {
    const redis = new Redis(inject('engines').redis as string)
    onTestFinished(() => void redis.quit())
    const client = ioredis(redis)
    const sent: (readonly string[])[] = []
    const counting = {
      cluster: true as const,
      eval: client.eval.bind(client),
      evalsha: (sha1: string, keys: readonly string[], args: readonly (string | number)[]) => {
        sent.push(keys)
        return client.evalsha(sha1, keys, args)
      },
    }
    const store = bareRedisStore({ client: counting, prefix: `one-slot-${process.pid}:`, layout })
    const key = `user:${process.pid}:${layout}`
    const calls = [TENS.tb, TENS.fw, TENS.sl].map((limit, index) => callOf(`api:limit${index}:${limit.algorithm.tag}:`, key, limit))
    const [verdict] = await verbs.decide(store, [{ calls }])
    expect(verdict).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 9 }, { remaining: 9 }, { remaining: 9 }] })
    expect(sent).toHaveLength(1)
    expect(new Set(sent.flat().map(keySlot)).size).toBe(1)
    expect(store.laneOf?.(calls.map(({ id }) => id))).toBe(keySlot(sent[0]?.[0] as string))
    await verbs.reset(
      store,
      calls.map(({ id }) => id),
    )
    expect(sent).toHaveLength(2)
  })
})

function callOf(scope: string, key: string, limit: Call['limit']): Call {
  return { id: { scope: { text: scope }, key }, limit, cost: 1_000_000, phase: 0 }
}
