import { describe, expect, it } from 'vitest'
import { applyGroup } from '../../src/algorithms/group.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { START } from './arbitraries.ts'
import { ALGORITHMS, TABLE } from './cases.ts'

const TOKEN = 1_000_000

describe('a group over every algorithm at once', () => {
  it('is charged as a whole', () => {
    const calls = ALGORITHMS.map(({ ten }, slot) => ({ slot, limit: ten(), cost: 4 * TOKEN, phase: 0 }))
    let states: unknown[] = calls.map(() => undefined)
    for (const left of [6, 2]) {
      const result = applyGroup(states, calls, START)
      expect(result.outcome).toBe('allowed')
      for (const call of result.calls) expect(call.remaining).toBe(left)
      states = calls.map(({ slot }) => result.writes.find((write) => write.slot === slot)?.state)
    }
    expect(applyGroup(states, calls, START)).toMatchObject({ outcome: 'denied', writes: [] })
  })

  it('says of each call what it alone would have been, and takes the worst for all', () => {
    const [one, two, three] = ALGORITHMS.map(({ ten }, slot) => ({ slot, limit: ten(), cost: TOKEN, phase: 0 }))
    if (one === undefined || two === undefined || three === undefined) throw new Error('too few algorithms')
    const spent = applyGroup([undefined], [{ ...two, slot: 0, cost: 10 * TOKEN }], START).writes[0]?.state
    const result = applyGroup([undefined, spent, undefined], [one, two, { ...three, cost: 11 * TOKEN }], START)
    expect(result).toMatchObject({
      outcome: 'impossible',
      writes: [],
      calls: [{ outcome: 'allowed' }, { outcome: 'denied' }, { outcome: 'impossible', retryAfter: 0 }],
    })
  })
})

describe.each(TABLE)('a block over a %s', (_, { ten }) => {
  const call = (cost: number) => ({ slot: 0, limit: ten(), cost: cost * TOKEN, phase: 0 })

  it('denies until it ends, charges nothing, and is no quota', () => {
    const blocked = applyGroup([undefined], [call(1)], START, [START + 5_000_000])
    expect(blocked).toMatchObject({
      outcome: 'denied',
      writes: [],
      calls: [{ outcome: 'denied', retryAfter: 5_000_000, blockedFor: 5_000_000, remaining: 10 }],
    })
    expect(applyGroup([undefined], [call(1)], START + 4_999_999, [START + 5_000_000])).toMatchObject({
      outcome: 'denied',
      calls: [{ outcome: 'denied', retryAfter: 1, blockedFor: 1 }],
    })
    const after = applyGroup([undefined], [call(1)], START + 5_000_000, [START + 5_000_000])
    expect(after.outcome).toBe('allowed')
    expect(after.calls[0]).not.toHaveProperty('blockedFor')
  })

  it('waits for the later of itself and the quota, and leaves what is impossible impossible', () => {
    const spent = applyGroup([undefined], [call(10)], START).writes[0]?.state
    const wait = applyGroup([spent], [call(10)], START).calls[0]?.retryAfter as number
    const waits = (until: number) => applyGroup([spent], [call(10)], START, [START + until]).calls[0]
    expect(waits(1)).toMatchObject({ retryAfter: wait, blockedFor: 1 })
    expect(waits(wait + 1)).toMatchObject({ retryAfter: wait + 1, blockedFor: wait + 1 })
    expect(applyGroup([spent], [call(11)], START, [START + 1]).calls[0]).toMatchObject({
      outcome: 'impossible',
      retryAfter: 0,
      blockedFor: 1,
    })
  })
})

describe('the phase of a key', () => {
  it('reaches every call of the driver: deciding, converting and viewing', () => {
    const phase = 2 ** 31
    const minute = fixedWindow({ limit: 10, window: '1m', align: 'key' })
    const hour = fixedWindow({ limit: 10, window: '1h', align: 'key' })
    const [state] = applyGroup([undefined], [{ slot: 0, limit: minute, cost: 10 * TOKEN, phase }], START).writes
    const result = applyGroup([state?.state], [{ slot: 0, limit: hour, cost: TOKEN, phase }], START)
    // The windows of this key end half an hour after each full hour.
    const half = 1_800_000_000
    const end = (Math.floor((START - half) / (2 * half)) + 1) * 2 * half + half
    expect(result.calls[0]).toMatchObject({ outcome: 'denied', retryAfter: end - START, resetAfter: end - START })
  })
})
