import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { watchUnread } from '../../src/identity/watch-unread.ts'
import { indexRules, unreadMatch } from '../../src/policy/model/match.ts'
import { allHold, type Condition, type Rule, type Truth } from '../../src/policy/model/rule.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { read, rule } from './bundle-texts.ts'
import { draws } from '../draws.ts'

const request = (facts: Partial<RequestFacts>): Request =>
  readRequest({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...facts }, undefined, trustProxies([]))

/** A request that counts how often its header `plan` is read. */
function counted(plan: string, path: string): { readonly requested: Request; readonly reads: () => number } {
  let reads = 0
  const headers = Object.defineProperty({}, 'plan', {
    enumerable: true,
    get() {
      reads += 1
      return plan
    },
  })
  const requested = request({ path, headers })
  reads = 0
  return { requested, reads: () => reads }
}

const SIZE = draws(600, 240)

/** Makes rules of which every second one has no `match`. Such a rule applies if none of the rules before it does. */
function alternating(selector: string | undefined): readonly Rule[] {
  const rules = Array.from({ length: SIZE }, (_, index) =>
    rule({ name: `r${index}`, ...(index % 2 === 0 ? { match: { 'header:plan': `p${index}` } } : {}) }),
  )
  const spec = { selector: { pathPrefix: selector }, rules, fallback_limit: rule({ name: 'rest' }) }
  return read(selector === undefined ? { rules } : { bundle_version: 1, policies: [{ id: 'a', spec }] }).rules
}

describe('R13: a bundle of many rules', () => {
  it.each([undefined, '/', '/v1'])('reads a header a few times for all of its rules and their elses (selector %s)', (selector) => {
    const find = finish(indexRules(alternating(selector)))
    for (const [plan, found] of [
      ['p0', 1],
      ['p200', 101],
      ['none', SIZE / 2],
    ] as const) {
      const { requested, reads } = counted(plan, '/v1/x')
      expect(find(requested)).toHaveLength(found)
      expect(reads()).toBeGreaterThan(0)
      expect(reads()).toBeLessThan(20)
    }
  })

  it('reads it no more than a few times a rule where the request cannot be read', () => {
    const find = finish(indexRules(alternating(undefined)))
    const { requested, reads } = counted('none', '/v1#x')
    expect(requested.unreadable).toBeDefined()
    expect(find(requested)).toHaveLength(SIZE / 2)
    expect(reads()).toBeLessThan(10 * SIZE)
  })
})

interface Drawn {
  readonly match?: Readonly<Record<string, string>>
  readonly limit_keys: readonly string[]
}

/** What a rule without `match` means, written without the implementation: none of the earlier rules with the same key applies. */
function noneBefore(drawn: readonly Drawn[], rules: readonly Rule[], index: number): Condition | undefined {
  const alike = drawn.flatMap(({ match, limit_keys }, at) =>
    at < index && Object.keys(match ?? {}).length > 0 && limit_keys[0] === drawn[index]?.limit_keys[0] ? [rules[at] as Rule] : [],
  )
  if (drawn[index]?.match !== undefined || alike.length === 0) return undefined
  const test = (seen: Request): Truth => {
    let none: Truth = true
    for (const { match } of alike) {
      const truth = allHold(match.when, seen)
      if (truth === true) return false
      if (truth === undefined) none = undefined
    }
    return none
  }
  return { source: { text: 'else', read: () => undefined }, value: '', test }
}

describe('a rule without match', () => {
  it('is the else of those before it that count alike, whatever the rules and the request are', () => {
    const source = fc.constantFrom('header:x', 'header:y', 'query:q')
    const match = fc.dictionary(source, fc.constantFrom('a', 'b'), { maxKeys: 2 })
    const drawn = fc.record({ match, limit_keys: fc.constantFrom(['header:k'], ['header:l']) }, { requiredKeys: ['limit_keys'] })
    const header = fc.constantFrom(undefined, 'a', 'b', ['a', 'b'], ['a', 'a'])
    const facts = fc.record({
      x: header,
      y: header,
      path: fc.constantFrom('/', '/?q=a', '/?q=b', '/?q=a&q=b', '/?q=a#b', '/a#b', '/#?q=a'),
    })
    fc.assert(
      fc.property(fc.array(drawn, { minLength: 1, maxLength: 24 }), fc.array(facts, { minLength: 1, maxLength: 4 }), (list, requests) => {
        const { rules } = read({ rules: list.map((more, index) => rule({ name: `r${index}`, ...more })) })
        const expected = rules.map((one, index): Rule => {
          const condition = noneBefore(list, rules, index)
          return condition === undefined ? one : { ...one, match: { when: [condition] } }
        })
        const find = finish(indexRules(rules))
        for (const { x, y, path } of requests) {
          const requested = request({ path, headers: { ...(x === undefined ? {} : { x }), ...(y === undefined ? {} : { y }) } })
          const during = watchUnread(requested)
          const isRead = (one: Rule): boolean | undefined => unreadMatch(one.match, requested, during)
          expect(rules.map((one) => allHold(one.match.when, requested))).toEqual(expected.map((one) => allHold(one.match.when, requested)))
          // Each rule is checked twice. A request remembers what was read of it, and a second reading must still be noticed.
          for (let round = 0; round < 2; round += 1) expect(rules.map(isRead)).toEqual(expected.map(isRead))
          expect(find(requested)).toEqual(
            rules.filter((_, index) => {
              const { match: meant } = expected[index] as Rule
              return requested.unreadable === undefined
                ? allHold(meant.when, requested) !== false
                : isRead(expected[index] as Rule) !== undefined
            }),
          )
        }
      }),
      { seed: 20_261_122, numRuns: draws(100, 8) },
    )
  })
})
