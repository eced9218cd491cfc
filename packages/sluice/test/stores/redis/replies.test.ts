import { describe, expect, it } from 'vitest'
import type { Question, Run } from '../../../src/stores/redis/question.ts'
import { Nonsense, replyOf } from '../../../src/stores/redis/replies.ts'

const order = (...passed: number[]): Question['order'] => passed.map((count) => ({ passed: count, times: 300 }) as Run)
const NOW = 1_763_692_800_123_456
const time = Buffer.from(NOW.toString(16).padStart(14, '0'), 'hex')
const text = (...parts: (number | readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))))

describe('replies as a text', () => {
  it('hold the values as they were, how many passed, and the time, in numbers of one byte or of four', () => {
    const short = replyOf(text(1, [3, 1], [0, 255], Buffer.from('abc'), time), 2)
    const long = replyOf(text(4, [0, 0, 0, 3], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 4], Buffer.from('abc'), time), 2)
    for (const reply of [short, long]) {
      expect(reply.now).toBe(NOW)
      expect([reply.found(2), reply.found(1), reply.found(2)].map((found) => found?.toString())).toEqual([undefined, 'abc', undefined])
    }
    expect([short.isPassed(order(1, 255)), short.isPassed(order(1, 254)), short.isPassed(order(0, 255))]).toEqual([true, false, false])
    expect([long.isPassed(order(1, 260)), long.isPassed(order(1, 4))]).toEqual([true, false])
    expect(() => short.ends(1)).toThrow(Nonsense)
    expect(() => short.next()).toThrow(Nonsense)
  })

  it.each([
    ['nothing', text()],
    ['another width', text(2, [0, 0], time)],
    ['less than a head', text(1, [0])],
    ['less than its values', text(1, [3, 1], Buffer.from('ab'), time)],
    ['more than its values', text(1, [1, 1], Buffer.from('ab'), time)],
  ])('make no sense with %s', (_, reply) => {
    expect(() => replyOf(reply, 1)).toThrow(Nonsense)
  })

  it.each([['a word'], [7], [null], [{}], [[]], [[null, -1]], [[null, 1.5]]])('or as %j', (reply) => {
    expect(() => replyOf(reply, 1)).toThrow(Nonsense)
  })
})

describe('replies as a list', () => {
  it('hold them too, and numbers as texts where a client says them so', () => {
    const reply = replyOf([Buffer.from('abc'), null, '5', String(NOW), 9, '1', 302], 3)
    expect([reply.now, reply.found(1)?.toString(), reply.found(2), reply.ends(2), reply.ends(3)]).toEqual([NOW, 'abc', null, null, 5])
    expect([reply.next(), reply.next()]).toEqual([9, 1])
    expect(() => reply.found(3)).toThrow(Nonsense)
    expect(() => reply.ends(1)).toThrow(Nonsense)
    expect(reply.isPassed(order(1, 1))).toBe(true)
  })

  it('are not what passed where something is left, or missing', () => {
    expect(replyOf([NOW, 1, 0], 0).isPassed(order(1))).toBe(false)
    expect(() => replyOf([NOW], 0).isPassed(order(1))).toThrow(Nonsense)
  })
})
