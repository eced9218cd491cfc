import type { Decision, DecisionEvent, LimitView } from 'sluice'
import { parsePolicy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import { createActivity, sumActivity } from '../src/page/activity.ts'
import { durationText, freshReadings } from '../src/page/readings.ts'
import { reasonOf } from '../src/page/refusal.ts'

const START = 1_800_000_000_000
const POLICY = parsePolicy(
  `version: 1
rules:
  - { name: shared, key: [], rate: 10/s, burst: 20 }
  - { name: each, key: [ip:address], rate: 1/s, burst: 10 }
  - { name: window, key: ["header:a", "header:b"], algorithm: fixed-window, limit: 100, window: 1h }
  - { name: unseen, key: [], rate: 1/day, burst: 1, mode: shadow }
`,
  { filename: 'p.yaml' },
)
const BUCKET = { name: 'each', limit: 10, windowMs: 10_000, replenishAfterMs: 0 } as const

/** A view of `each` with that many tokens left. */
function each(remaining: number): LimitView {
  return { ...BUCKET, remaining, resetAfterMs: (10 - remaining) * 1_000 }
}

function observed() {
  const clock = { now: START }
  const activity = createActivity(
    () => POLICY,
    () => clock.now,
  )
  const decide = (fields: Partial<Decision>): void =>
    activity.onDecision({ decision: { outcome: 'allowed', allowed: true, limits: [], ...fields } } as unknown as DecisionEvent)
  const refuse = (limitName: string): void => decide({ outcome: 'denied', allowed: false, limitName, reason: 'quota', retryAfterMs: 1_500 })
  return { clock, activity, decide, refuse, level: (name: string) => activity.report().limits.find((one) => one.name === name) }
}

describe('the activity that the page shows', () => {
  it('counts allowed and refused requests per second, up to the second before this one', () => {
    const { clock, activity, decide, refuse } = observed()
    decide({})
    refuse('each')
    clock.now += 1_000
    decide({})
    decide({})
    expect(activity.report().allowed.slice(-2)).toEqual([0, 1])
    clock.now += 1_000
    const { second, allowed, refused, refusedBy } = activity.report()
    expect([second, allowed.length, refused.length]).toEqual([START / 1_000 + 2, 299, 299])
    expect([allowed.slice(-3), refused.slice(-3), refusedBy]).toEqual([[0, 1, 2], [0, 1, 0], { each: 1 }])
    clock.now += 298_000
    expect([activity.report().allowed.slice(0, 2), activity.report().refusedBy]).toEqual([[2, 0], { each: 0 }])
    clock.now += 3_600_000
    expect(activity.report().allowed).toEqual(Array(299).fill(0))
  })

  it('counts what is decided after the clock was set back', () => {
    const { clock, activity, decide } = observed()
    decide({})
    clock.now -= 5_000
    decide({})
    clock.now += 6_000
    expect(activity.report().allowed.at(-1)).toBe(2)
  })

  it('begins anew after the clock was set back by more than 5 seconds', () => {
    const { clock, activity, decide, level, refuse } = observed()
    activity.report()
    for (let times = 0; times < 3; times += 1) decide({ limits: [each(0)] })
    refuse('each')
    clock.now -= 600_000
    expect(activity.report()).toMatchObject({ limits: [] })
    expect(activity.report().refusal).toBe(undefined)
    decide({ limits: [each(9)] })
    expect(level('each')?.used).toBeCloseTo(0.1)
    clock.now += 1_000
    expect(activity.report().allowed).toEqual([...Array<number>(298).fill(0), 1])
  })

  it('U9: the bar of a limit per client stays at the emptiest client, and does not jump between clients', () => {
    const { clock, activity, decide, level } = observed()
    activity.report()
    decide({ limits: [each(2)] })
    for (let second = 0; second < 3; second += 1) {
      decide({ limits: [each(9)] })
      expect(level('each')?.used).toBeCloseTo(0.8 - second / 10)
      clock.now += 1_000
    }
    decide({ limits: [each(1)] })
    expect(level('each')).toMatchObject({ used: 0.9, resetMs: 9_000, fillMs: 10_000 })
    // The client whose level is shown makes no request for more than a minute. So the next client is shown.
    clock.now += 60_001
    activity.report()
    decide({ limits: [each(10)] })
    expect(level('each')?.used).toBe(0)
  })

  it('follows a limit that all share upwards too, and keeps the count of a window until it is fresh', () => {
    const { clock, activity, decide, level } = observed()
    activity.report()
    const shared = { name: 'shared', limit: 20, windowMs: 2_000, replenishAfterMs: 0 }
    decide({ limits: [{ ...shared, remaining: 0, resetAfterMs: 2_000 }] })
    decide({ limits: [{ ...shared, remaining: 20, resetAfterMs: 0 }] })
    expect(level('shared')?.used).toBe(0)
    decide({ limits: [{ name: 'window', limit: 100, remaining: 25, windowMs: 3_600_000, replenishAfterMs: 0, resetAfterMs: 9_000 }] })
    clock.now += 8_000
    expect(level('window')).toMatchObject({ used: 0.75, resetMs: 1_000, rate: '100 in 1 h', counts: 'each header:a and header:b' })
    expect(level('window')).not.toHaveProperty('fillMs')
    clock.now += 1_000
    expect(level('window')?.used).toBe(0)
  })

  it('collects no levels while nobody reads, and drops those of limits that the page does not show', () => {
    const { clock, activity, decide, refuse } = observed()
    decide({ limits: [each(2)] })
    expect(activity.report().limits).toEqual([])
    decide({ limits: [{ ...each(2), name: 'gone' }] })
    refuse('gone')
    expect(activity.report()).toMatchObject({ limits: [], refusedBy: {} })
    clock.now += 10_000
    decide({ limits: [each(2)] })
    expect(activity.report().limits).toEqual([])
  })

  it('is added up over processes: counts by second, the emptiest client, the latest refusal', () => {
    const [one, other] = [observed(), observed()]
    for (const process of [one, other]) process.activity.report()
    one.refuse('each')
    one.decide({ limits: [each(3)] })
    other.clock.now += 1_000
    other.decide({ limits: [each(6)] })
    other.decide({ outcome: 'undecided', allowed: false, degraded: { kind: 'timeout', executed: 'unknown', message: '' } })
    one.clock.now += 1_000
    other.clock.now += 1_000
    const sum = sumActivity([one.activity.report(), other.activity.report()])
    expect(sum?.second).toBe(START / 1_000 + 2)
    expect([sum?.allowed.slice(-2), sum?.refused.slice(-2), sum?.allowed.length]).toEqual([[1, 1], [1, 1], 299])
    expect(sum?.refusedBy).toEqual({ each: 1 })
    expect(sum?.limits.map(({ name, used }) => [name, Math.round(used * 10)])).toEqual([['each', 6]])
    expect(sum?.refusal?.why).toContain('timeout')
    expect(sumActivity([])).toBeUndefined()
  })
})

describe('the limits before the first request', () => {
  it('are those of enforcing rules, unused, with their rates in words', () => {
    expect(freshReadings(POLICY).limits.map(({ name, limit, used, rate, counts }) => [name, limit, used, rate, counts])).toEqual([
      ['shared', 20, 0, 'refilled at 10 a second', 'all requests together'],
      ['each', 10, 0, 'refilled at 1 a second', 'each ip:address'],
      ['window', 100, 0, '100 in 1 h', 'each header:a and header:b'],
    ])
  })

  it('are written with thousands apart', () => {
    const policy = parsePolicy(`version: 1\nrules: [{ name: a, key: [], rate: 10000/s, burst: 10000 }]\n`, { filename: 'p.yaml' })
    expect(freshReadings(policy).limits[0]?.rate).toBe('refilled at 10,000 a second')
  })

  it.each([
    ['100/min', 'refilled at 1.67 a second'],
    ['10/min', 'refilled at 10 a minute'],
    ['100/h', 'refilled at 1.67 a minute'],
    ['5/h', 'refilled at 5 an hour'],
    ['10000/s', 'refilled within 1 ms'],
    ['1/day', 'refilled at 1 a day'],
    ['1/400h', 'refilled at 0.06 a day'],
  ])('a rate of %s is "%s"', (rate, text) => {
    const policy = parsePolicy(`version: 1\nrules: [{ name: a, key: [], rate: ${rate}, burst: 7 }]\n`, { filename: 'p.yaml' })
    expect(freshReadings(policy).limits[0]?.rate).toBe(text)
  })
})

describe('U9: why a request was refused, in words', () => {
  const views = [{ ...each(0), limit: 10 }]
  it.each<[Partial<Decision>, string]>([
    [
      { outcome: 'denied', limitName: 'each', reason: 'quota', retryAfterMs: 1_500 },
      'The limit each is used up. The same request would pass 1.5 s later.',
    ],
    [{ outcome: 'denied', limitName: 'each', reason: 'quota' }, 'The limit each is used up.'],
    [
      { outcome: 'denied', limitName: 'each', reason: 'blocked', retryAfterMs: 540_000 },
      'The key is blocked under each. The same request would pass 9 min later.',
    ],
    [{ outcome: 'denied', limitName: 'each', reason: 'overflow' }, 'The store has no room for another key of each.'],
    [
      { outcome: 'impossible', limitName: 'each', reason: 'capacity' },
      'The request costs more than each can ever hold (10). Waiting does not help.',
    ],
    [
      { outcome: 'impossible', limitName: 'each', reason: 'bad-request', detail: '/secret' },
      'The target of the request cannot be read, and each depends on it. The client got 400.',
    ],
    [
      { outcome: 'undecided', degraded: { kind: 'unavailable', executed: 'no', message: 'secret' } },
      'The store did not decide (unavailable), and the policy refuses without it.',
    ],
  ])('%j', (fields, words) => {
    expect(reasonOf({ allowed: false, limits: views, ...fields } as Decision)).toBe(words)
  })

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [90_000, '1.5 min'],
    [5_400_000, '1.5 h'],
    [172_800_000, '2 d'],
  ])('%i milliseconds are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
