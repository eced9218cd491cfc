import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { compilePolicy, createEngine, parsePolicy, type Policy, type PolicyError, readPortable } from '../../src/policy.ts'
import { systemTime } from '../../src/time/system.ts'
import { facts } from '../engine/bench.ts'
import { largePolicies } from './large-policies.ts'
import { draws } from '../draws.ts'

/** A clock that moves by a millisecond at each reading. What waits for it runs at once, and is counted as a pause. */
function slowClock(): { pauses: number; monotonic(): number; after(ms: number, fn: () => void): () => void } {
  let now = 0
  return {
    pauses: 0,
    monotonic: () => (now += 1),
    after(_ms, fn) {
      this.pauses += 1
      setImmediate(fn)
      return () => {}
    },
  }
}

/** A policy as plain data, in which each function is replaced by the words 'a function'. */
function shown(policy: Policy): unknown {
  const plain = (value: unknown): unknown => {
    if (typeof value === 'function') return 'a function'
    if (value instanceof Set) return [...value]
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [name, plain(content)]))
  }
  return plain(policy)
}

const now = Date.UTC(2030, 0)
const parts = [...largePolicies(draws(25_000, 5_000))]

describe('R13: a policy that is read in another thread', () => {
  it.each(parts)('is the same when it is compiled in slices here: %s', async (_what, text) => {
    const sent = structuredClone(readPortable(text, { now }))
    const clock = slowClock()
    const compiled = await compilePolicy(sent, { clock })
    const policy = parsePolicy(text, { now })
    expect(JSON.stringify(shown(compiled))).toBe(JSON.stringify(shown(policy)))
    // Compiling may pause after each of hundreds of parts. The pieces that were sent to this thread are small.
    expect(clock.pauses).toBeGreaterThan(25)
    for (const piece of sent.pieces) expect(piece.length).toBeLessThan(2_000)
  })

  it('is refused there with the mistakes that it has', () => {
    const text = 'version: 1\nrules:\n  - { name: a, burst: many }\n  - 7\n'
    const issues = (read: () => unknown): PolicyError['issues'] | undefined => {
      try {
        read()
        return undefined
      } catch (error) {
        return (error as PolicyError).issues
      }
    }
    expect(issues(() => readPortable(text))).toEqual(issues(() => parsePolicy(text)))
    expect(issues(() => readPortable(''))).toHaveLength(1)
    expect(issues(() => readPortable('x: ['))).toEqual(issues(() => parsePolicy('x: [')))
  })

  it('is no policy where a piece is missing', async () => {
    const portable = readPortable(parts[0]?.[1] as string)
    await expect(compilePolicy({ ...portable, pieces: [...portable.pieces].slice(0, -1) })).rejects.toThrow('pieces are missing')
  })
})

describe('R13: an engine that is given a large policy', () => {
  it('decides by the one before until the prepared one is put to work, all at once', async () => {
    const policy = (burst: number): Policy => parsePolicy(`version: 1\nrules: [{ name: all, key: [], rate: 1/h, burst: ${burst} }]`)
    const engine = createEngine({ policy: policy(3), store: memoryStore() })
    const capacity = async (): Promise<number | undefined> => (await engine.peek(facts())).limits[0]?.limit
    const apply = await engine.prepare(policy(7))
    expect([await capacity(), engine.policy.rules[0]?.tiers[0]?.limit.capacity]).toEqual([3, 3])
    apply()
    expect([await capacity(), engine.policy.rules[0]?.tiers[0]?.limit.capacity]).toEqual([7, 7])
  })

  it('pauses after every few of its rules, whatever is done with them', async () => {
    const policy = parsePolicy(
      `version: 1\nrules: [${Array.from({ length: 400 }, (_, index) => `{ name: r${index}, key: [], rate: 1/h, burst: 1 }`).join(', ')}]`,
    )
    let [inSlice, most] = [0, 0]
    const rules = policy.rules.map(
      (rule) =>
        new Proxy(rule, {
          get: (target, name) => {
            if (name === 'name') most = Math.max(most, (inSlice += 1))
            return Reflect.get(target, name) as unknown
          },
        }),
    )
    const { monotonic, after } = slowClock()
    const clock = {
      ...systemTime,
      monotonic,
      after(ms: number, fn: () => void) {
        inSlice = 0
        return after.call({ pauses: 0, monotonic, after }, ms, fn)
      },
    }
    const engine = createEngine({ policy: parsePolicy('version: 1\nrules: []\n'), store: memoryStore(), clock })
    await engine.prepare({ ...policy, rules })
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(20)
  })

  it('refuses what reload refuses, and stays as it was', async () => {
    const engine = createEngine({ policy: parsePolicy('version: 1\nrules: []\n'), store: memoryStore() })
    const hmac = parsePolicy('version: 1\nidentifiers: { mode: hmac, secretFile: s }\nrules: []\n')
    await expect(engine.prepare(hmac)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' })
    const apply = await engine.prepare(hmac, { pseudonym: (text) => `x${text}` })
    expect(engine.policy).not.toBe(hmac)
    apply()
    expect(engine.policy).toBe(hmac)
  })
})
