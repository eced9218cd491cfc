import { describe, expect, it } from 'vitest'
import { BITING, grantOf } from '../src/http/audit.ts'
import { EXPRESS, FASTIFY, HONO, NODE } from '../src/http/contestants.ts'
import { type Fields, lacking } from '../src/http/fields.ts'
import type { Guard } from '../src/http/order.ts'
import type { WebLane, WebLoad } from '../src/http/web-lanes.ts'
import { webTable } from '../src/http/web-table.ts'
import { isWrong } from '../src/result/table.ts'

const DRAFT_6: Fields = [
  ['RateLimit-Policy', '10;w=1'],
  ['RateLimit-Limit', '10'],
  ['RateLimit-Remaining', '9'],
  ['RateLimit-Reset', '1'],
]

describe('what an answer does not report', () => {
  it.each<[string, Fields, 200 | 429, string[]]>([
    ['draft 6', DRAFT_6, 200, []],
    [
      'the combined field',
      [
        ['RateLimit-Policy', ''],
        ['RateLimit', ''],
      ],
      200,
      [],
    ],
    [
      'older names',
      [
        ['x-ratelimit-limit', ''],
        ['x-ratelimit-remaining', ''],
        ['x-ratelimit-reset', ''],
      ],
      200,
      ['policy'],
    ],
    ['nothing', [], 200, ['limit', 'remaining', 'reset', 'policy']],
    ['a refusal without a wait', DRAFT_6, 429, ['Retry-After', 'Cache-Control']],
    ['a refusal', [...DRAFT_6, ['retry-after', '1'], ['Cache-Control', 'no-store']], 429, []],
  ])('%s', (_what, fields, status, lacks) => {
    expect(lacking({ status, fields })).toEqual(lacks)
  })
})

describe('the audit of a flood around the end of a window', () => {
  const flood = { total: 2_000, floodMs: 400, elapsedMs: 1_200 }

  it('a bucket: one before the flood, then burst + rate * time', () => {
    expect(grantOf({ ...flood, allowed: 71 }, 'bucket')).toEqual({ overGrantPercent: 0, beyondBucketPercent: 0 })
    expect(grantOf({ ...flood, allowed: 142 }, 'bucket').overGrantPercent).toBe(100)
  })

  it('windows keep their promise with twice the limit, which is more than a bucket of the same numbers', () => {
    const kept = grantOf({ ...flood, allowed: 2 * BITING.burst }, 'window')
    expect(kept.overGrantPercent).toBe(0)
    expect(kept.beyondBucketPercent).toBeCloseTo((100 / 71 - 1) * 100)
    expect(grantOf({ ...flood, allowed: 2 * BITING.burst + 1 }, 'window').overGrantPercent).toBeGreaterThan(0)
    // Within one window, its limit is all.
    expect(grantOf({ ...flood, elapsedMs: 999, allowed: 51 }, 'window').overGrantPercent).toBeCloseTo(2)
  })
})

describe('the table of a framework', () => {
  const lane = (guard: Guard, load: WebLoad, cpuMicros: number[], wrong = 0): WebLane => {
    const contestant = EXPRESS.contestants.find((one) => one.guard === guard)
    const timed = { name: guard, cpuMicros, wallMicros: cpuMicros, wrong, failed: 0, total: 100 }
    const answered = { status: 200, fields: DRAFT_6 }
    return {
      guard,
      load,
      timed,
      answered,
      lacks: guard === 'sluice' ? [] : ['policy'],
      ...(contestant === undefined ? {} : { contestant }),
    }
  }
  const clean = { overGrantPercent: 0, beyondBucketPercent: 0 }
  const table = webTable({
    scenario: EXPRESS,
    lanes: [
      lane('bare', 'answered with 200', [10, 20, 30]),
      lane('constant', 'answered with 200', [11, 21, 31]),
      lane('sluice', 'answered with 200', [13, 24, 33]),
      lane('express-rate-limit', 'answered with 200', [30, 40, 50], 1),
      lane('express-rate-limit', 'answered with 429', [31, 41, 51]),
      lane('async', 'answered with 200', [10, 20, 30]),
    ],
    grants: new Map<Guard, typeof clean>([
      ['sluice', clean],
      ['express-rate-limit', { overGrantPercent: 0, beyondBucketPercent: 41 }],
    ]),
  })

  it('compares with the bare server of the same round, and leaves out what is no contestant', () => {
    expect(table.rows.map(({ name, kind, load, cells }) => [name, kind, load, cells['added']])).toEqual([
      ['no limiter', 'baseline', 'answered with 200', undefined],
      ['constant fields', 'floor', 'answered with 200', { low: 1, median: 1, high: 1 }],
      ['sluice/express, fields of draft 6', 'ours', 'answered with 200', { low: 3, median: 3, high: 3.5 }],
      ['express-rate-limit', 'peer', 'answered with 200', { low: 20, median: 20, high: 20 }],
      ['express-rate-limit', 'peer', 'answered with 429', { low: 21, median: 21, high: 21 }],
    ])
  })

  it('marks a contestant wrong that answered otherwise than its load allows, and no other', () => {
    expect(table.rows.filter(isWrong).map(({ name, load }) => [name, load])).toEqual([['express-rate-limit', 'answered with 200']])
  })

  it('says what is not reported, and what passed beyond a bucket', () => {
    expect(table.rows[2]?.cells).toMatchObject({ lacks: 'none', fields: 4, beyond: 0 })
    expect(table.rows[3]?.cells).toMatchObject({ lacks: 'policy', beyond: 41 })
  })
})

it('every framework has its peers, and ours with the same fields as they and with its default ones', () => {
  expect([NODE, EXPRESS, FASTIFY, HONO].map(({ contestants }) => contestants.map(({ guard }) => guard))).toEqual([
    ['sluice', 'sluice-default'],
    ['sluice', 'sluice-default', 'express-rate-limit', 'rate-limiter-flexible'],
    ['sluice', 'sluice-default', '@fastify/rate-limit'],
    ['sluice', 'sluice-default', 'hono-rate-limiter'],
  ])
})
