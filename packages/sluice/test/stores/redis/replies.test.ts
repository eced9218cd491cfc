import { describe, expect, it } from 'vitest'
import { InvalidReply } from '../../../src/stores/batch/replay.ts'
import { readReply } from '../../../src/stores/redis/reply.ts'

const NOW = 1_763_692_800_123_456
const time = Buffer.from(NOW.toString(16).padStart(14, '0'), 'hex')
const text = (...sections: (number | readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(sections.map((section) => (typeof section === 'number' ? Buffer.from([section]) : Buffer.from(section))))
const parts = (...passed: number[]) => passed.map((count) => ({ passed: count }))
const number = (value: number): Buffer => Buffer.from(value.toString(16).padStart(14, '0'), 'hex')

describe('replies', () => {
  it('hold the values as they were, how many passed, numbers and the time, with counts of one byte or of four', () => {
    const short = readReply(text(1, [3, 0], [1, 255], Buffer.from('abc'), number(9), number(1), time), 2, 2)
    const long = readReply(
      text(4, [0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 4], Buffer.from('abc'), number(9), number(1), time),
      2,
      2,
    )
    for (const reply of [short, long]) {
      expect([reply.now, reply.values.map(String)]).toEqual([NOW, ['abc', 'null']])
      expect(reply.isPassed(parts(1, 255)) || reply.isPassed(parts(1, 260))).toBe(false)
      expect([reply.next(), reply.next()]).toEqual([9, 1])
    }
    expect([short.isPassed(parts(1, 255)), short.isPassed(parts(1, 254)), short.isPassed(parts(0, 255))]).toEqual([true, false, false])
    expect([long.isPassed(parts(1, 260)), long.isPassed(parts(1, 4))]).toEqual([true, false])
    expect(() => short.next()).toThrow(InvalidReply)
  })

  it.each([
    ['nothing', text()],
    ['another width', text(2, [0, 0], [0, 0], time)],
    ['less than a head', text(1, [0])],
    ['less than its values', text(1, [3, 1], Buffer.from('ab'), time)],
  ])('make no sense with %s', (_, reply) => {
    expect(() => readReply(reply, 1, 1)).toThrow(InvalidReply)
  })

  it('are not what passed with more than their values', () => {
    expect(readReply(text(1, [1, 1], Buffer.from('ab'), time), 1, 1).isPassed(parts(1))).toBe(false)
  })

  it.each([['a word'], [7], [null], [{}], [[]], [[null, 1]]])('make no sense as %j', (reply) => {
    expect(() => readReply(reply, 1, 1)).toThrow(InvalidReply)
  })
})
