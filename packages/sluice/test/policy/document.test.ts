import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { fail, rule } from './refused.ts'
import { draws } from '../draws.ts'

const RULES = draws(1_200, 200)

describe('the text of a policy', () => {
  it('keeps a message in one line, and the messages in number', () => {
    const error = fail(rule(`mode: "${'\\n'.repeat(3)}${'x'.repeat(500)}"`))
    expect(error.message.split('\n')).toHaveLength(1)
    expect(error.message.length).toBeLessThan(200)
    expect(fail(Array.from({ length: draws(5_000, 500) }, (_, index) => `k${index}: 1`).join('\n')).issues).toHaveLength(100)
  })

  it('has bounds in length and depth', () => {
    expect(fail('x'.repeat(262_145)).message).toBe('policy.yaml:1:1: the policy is not a text of at most 262144 characters')
    expect(fail('['.repeat(80)).message).toMatch(/^policy\.yaml:1:\d+: nested deeper than 32 levels$/)
    expect(fail(`{ "a": ${'['.repeat(80)}${']'.repeat(80)} }`, { format: 'json' }).message).toMatch(/nested deeper/)
  })

  it('is refused quickly, however it is made', () => {
    const started = performance.now()
    const texts = [
      '['.repeat(1_000_000),
      '- '.repeat(500_000),
      '{"a":'.repeat(200_000),
      'x'.repeat(10_000_000),
      Array.from({ length: 50_000 }, (_, index) => `k${index}: 1`).join('\n'),
      `[${'a,'.repeat(130_000)}]`,
      `[${','.repeat(260_000)}]`,
      '&a '.repeat(80_000),
      '*a '.repeat(80_000),
      '%a\n'.repeat(80_000),
      '---\n'.repeat(60_000),
    ]
    // The rest are much like those of the next tests.
    for (const text of texts.slice(0, draws(texts.length, 4))) fail(text)
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  it.each([
    ['a list of nothing but commas', `[${','.repeat(260_000)}]`],
    ['anchors', '&a '.repeat(80_000)],
    ['aliases', `[${'*a,'.repeat(80_000)}]`],
    ['directives', '%a\n'.repeat(80_000)],
    ['documents', '---\n'.repeat(60_000)],
  ])('is given up at its first mistakes: %s', (_, text) => {
    const { issues } = fail(text)
    expect(issues.length).toBeLessThanOrEqual(100)
    expect(Math.max(...issues.map(({ line, column }) => line * column))).toBeLessThan(2_000)
  })

  it('has a bound in words and signs, which no policy of its length reaches by accident', () => {
    expect(fail(`[${'a,'.repeat(130_000)}]`).message).toMatch(/^policy\.yaml:1:\d+: more than 150000 words and signs$/)
    const rules = Array.from(
      { length: RULES },
      (_, index) =>
        `  - { name: rule-${index}, match: { path: /api/v1/${index}/** }, key: [header:x-api-key, ip:address], rate: 10/s, burst: 20, mode: enforce, onStoreFailure: deny }`,
    )
    expect(parsePolicy(`version: 1\nrules:\n${rules.join('\n')}`).rules).toHaveLength(RULES)
  })

  it('has aliases of aliases refused before they are followed', () => {
    const bomb = ['a: &a [x]', ...Array.from({ length: 9 }, (_, index) => `b${index}: &b${index} [*a,*a,*a,*a,*a,*a,*a,*a,*a]`)].join('\n')
    expect(fail(bomb).message).toContain('an anchor is refused: &a')
  })
})
