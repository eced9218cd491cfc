import { describe, expect, it } from 'vitest'
import { type BatchState, batchOf } from '../../../src/stores/batch/batch.ts'
import { InvalidReply } from '../../../src/stores/batch/replay.ts'
import { replyOf } from '../../../src/stores/redis/reply.ts'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'

const BUCKET = tokenBucket({ rate: '10/s', burst: 20 })
const LOG = slidingWindowLog({ limit: 5, window: '1s' })
const statesOf = (...limits: readonly (typeof BUCKET | typeof LOG)[]): readonly BatchState[] =>
  batchOf(limits.map((limit, key) => ({ calls: [{ id: { scope: { text: 'a:b:c:' }, key: String(key) }, limit, cost: 1, phase: 0 }] })))
    .states
const parts = (...passed: number[]) => passed.map((count) => ({ passed: count, times: 300 }))
const NOW = 1_763_692_800_123_456
const time = Buffer.from(NOW.toString(16).padStart(14, '0'), 'hex')
const text = (...sections: (number | readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(sections.map((section) => (typeof section === 'number' ? Buffer.from([section]) : Buffer.from(section))))
/** Burst 20 at 10/s, empty two microseconds before NOW. */
const bucket = Buffer.concat([Buffer.from((2n ** 55n + BigInt(NOW - 2)).toString(16), 'hex'), Buffer.from([0, 0, 2, 10, 20])])
const BUCKET_STATE = expect.objectContaining({ zero: NOW - 2, seen: NOW }) as unknown

describe('replies as a text', () => {
  it('hold the values as they were, how many passed, and the time, in numbers of one byte or of four', () => {
    const states = statesOf(BUCKET, BUCKET)
    const short = replyOf(text(1, [12, 1], [0, 255], bucket, time), states)
    const long = replyOf(text(4, [0, 0, 0, 12], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 4], bucket, time), states)
    for (const reply of [short, long]) {
      expect(reply.now).toBe(NOW)
      expect(reply.states.map(({ state, missing }) => [state, missing])).toEqual([
        [BUCKET_STATE, false],
        [undefined, true],
      ])
    }
    expect([short.isPassed(parts(1, 255)), short.isPassed(parts(1, 254)), short.isPassed(parts(0, 255))]).toEqual([true, false, false])
    expect([long.isPassed(parts(1, 260)), long.isPassed(parts(1, 4))]).toEqual([true, false])
    expect(() => short.next()).toThrow(InvalidReply)
  })

  it.each([
    ['nothing', text()],
    ['another width', text(2, [0, 0], time)],
    ['less than a head', text(1, [0])],
    ['less than its values', text(1, [3, 1], Buffer.from('ab'), time)],
    ['more than its values', text(1, [1, 1], Buffer.from('ab'), time)],
  ])('make no sense with %s', (_, reply) => {
    expect(() => replyOf(reply, statesOf(BUCKET))).toThrow(InvalidReply)
  })

  it.each([['a word'], [7], [null], [{}], [[]], [[null, -1]], [[null, 1.5]]])('or as %j', (reply) => {
    expect(() => replyOf(reply, statesOf(BUCKET))).toThrow(InvalidReply)
  })
})

describe('replies as a list', () => {
  it('hold them too, and numbers as texts where a client says them so', () => {
    const reply = replyOf([bucket, null, '5', null, String(NOW), 9, '1', 302], statesOf(BUCKET, BUCKET, LOG, LOG))
    expect(reply.now).toBe(NOW)
    expect(reply.states.map(({ state, until, missing }) => [state, until, missing])).toEqual([
      [BUCKET_STATE, 0, false],
      [undefined, 0, true],
      [undefined, 5, false],
      [undefined, 0, true],
    ])
    expect([reply.next(), reply.next()]).toEqual([9, 1])
    expect(reply.isPassed(parts(1, 1))).toBe(true)
  })

  it('make no sense with a number in the place of a value, or a value in the place of a number', () => {
    expect(() => replyOf([5, NOW], statesOf(BUCKET))).toThrow(InvalidReply)
    expect(() => replyOf([bucket, NOW], statesOf(LOG))).toThrow(InvalidReply)
  })

  it('are not what passed where something is left, or missing', () => {
    expect(replyOf([NOW, 1, 0], []).isPassed(parts(1))).toBe(false)
    expect(() => replyOf([NOW], []).isPassed(parts(1))).toThrow(InvalidReply)
  })
})
