import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import {
  grantLease,
  type LeaseArguments,
  leasedBucketKernel as kernel,
  type LeasedState,
  leasing,
  MAX_HOLDERS,
  resetLeased,
} from '../../src/algorithms/leased-bucket.ts'
import { tokenBucket, tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { costOf, jump, limitOf, limits, SEED, share, START } from './arbitraries.ts'
import { outstanding } from './lease-holders.ts'
import { draws } from '../draws.ts'

const S = 1_000_000
const T = 1_000_000
const { plan: ten } = tokenBucket({ rate: '10/s', burst: 10 })

function leaseArguments(wanted: Partial<LeaseArguments> = {}): LeaseArguments {
  return { cost: T, want: 4 * T, holder: 1, sequence: 1, life: 2 * S, kept: 0, returned: 0, ...wanted }
}

/** The state of a bucket of ten tokens, after `tokens` of them were leased for two seconds. */
function onLease(tokens: number): LeasedState {
  const { state, granted } = grantLease(ten, undefined, START, leaseArguments({ want: tokens * T }))
  expect(granted).toBe(tokens * T)
  return state as LeasedState
}

const decide = (state: LeasedState | undefined, now: number, tokens: number) => kernel.decide(ten, state, now, tokens * T, 0)

describe('a lease', () => {
  it.each([
    ['what it wants', { want: 4 * T }, 4, 'allowed', 6],
    ['all there is where it wants more', { want: 40 * T }, 10, 'allowed', 0],
    ['nothing where less is there than is of use', { want: 40 * T, cost: 10 * T + 1 }, 0, 'impossible', 10],
    ['nothing to one that only settles', { want: 0 }, 0, 'allowed', 10],
  ] as const)('gives a holder %s', (_, wanted, tokens, outcome, remaining) => {
    expect(grantLease(ten, undefined, START, leaseArguments(wanted))).toMatchObject({ granted: tokens * T, outcome, remaining })
  })

  it('lowers the burst for everybody by what is out, until it ends', () => {
    const state = onLease(4)
    // A second would refill all ten tokens. But while four are leased, the bucket holds six at most.
    expect(decide(decide(state, START, 6).state, START + S, 6).outcome).toBe('allowed')
    expect(decide(state, START + S, 6.000001)).toMatchObject({ outcome: 'denied', remaining: 6 })
    expect(decide(state, START + 2 * S - 1, 6.000001).outcome).toBe('denied')
    // From its end on the bucket fills further.
    expect(decide(state, START + 2 * S, 6.000001).outcome).toBe('denied')
    expect(decide(state, START + 2.4 * S, 10).outcome).toBe('allowed')
  })

  it('makes a cost above what is left of the burst wait for the end of leases, and says how long', () => {
    const state = onLease(4)
    const denied = decide(state, START, 8)
    expect(denied).toMatchObject({ outcome: 'denied', retryAfter: 2.2 * S, remaining: 6, replenishAfter: 2.1 * S, resetAfter: 2.4 * S })
    expect(decide(state, START, 10.000001)).toMatchObject({ outcome: 'impossible', retryAfter: 0 })
    const both = grantLease(ten, state, START, leaseArguments({ holder: 2, life: S })).state
    expect(decide(both, START, 8)).toMatchObject({ outcome: 'denied', retryAfter: 2.2 * S, remaining: 2 })
  })

  it('settles what is kept, returned and spent', () => {
    const state = onLease(6)
    const settled = grantLease(ten, state, START + 100_000, leaseArguments({ sequence: 2, want: 0, kept: 2 * T, returned: 3 * T }))
    // The bucket had four tokens, the most that is possible with six leased. The holder returned three and keeps two. So up to eight fit,
    // and seven are there.
    expect(settled).toMatchObject({ granted: 0, outcome: 'allowed', remaining: 7 })
    expect(outstanding(settled.state, START + 2 * S)).toBe(2 * T)
    expect(decide(settled.state, START + 200_000, 8).outcome).toBe('allowed')
    expect(decide(settled.state, START + S, 8.000001).outcome).toBe('denied')
    expect(settled.state?.leases).toEqual([{ holder: 1, sequence: 2, amount: 2 * T, until: START + 2.1 * S }])
    expect(grantLease(ten, settled.state, START, leaseArguments({ sequence: 3, want: 0, returned: 2 * T })).state).not.toHaveProperty(
      'leases',
    )
  })

  it('ignores older and repeated requests, and takes back no more than it gave', () => {
    const state = onLease(4)
    for (const sequence of [0, 1])
      expect(grantLease(ten, state, START, leaseArguments({ sequence, returned: 4 * T }))).toMatchObject({ granted: 0, state })
    expect(grantLease(ten, state, START, leaseArguments({ sequence: 2, want: 0, kept: 3 * T, returned: 3 * T }))).toMatchObject({
      remaining: 7,
    })
    expect(grantLease(ten, undefined, START, leaseArguments({ want: 0, kept: 5 * T, returned: 5 * T })).state).toBeUndefined()
    // The lease has ended, so its tokens count as spent. The store does not know its holder any more, and takes nothing back.
    expect(grantLease(ten, state, START + 2 * S, leaseArguments({ sequence: 2, want: 0, returned: 4 * T }))).toMatchObject({ remaining: 6 })
  })

  it('is never cut short by a renewal for less time', () => {
    const renewed = grantLease(ten, onLease(4), START, leaseArguments({ sequence: 2, life: 1, want: 0, kept: 4 * T }))
    expect(renewed.state?.leases).toEqual([{ holder: 1, sequence: 2, amount: 4 * T, until: START + 2 * S }])
  })

  it(`is for ${MAX_HOLDERS} holders at once; the next learns that the tokens are there`, () => {
    const big = tokenBucket({ rate: '1/h', burst: 1_000 }).plan
    let state: LeasedState | undefined
    for (let holder = 1; holder <= MAX_HOLDERS; holder += 1) ({ state } = grantLease(big, state, START, leaseArguments({ holder })))
    expect(state?.leases).toHaveLength(MAX_HOLDERS)
    expect(grantLease(big, state, START, leaseArguments({ holder: 0 }))).toMatchObject({ granted: 0, outcome: 'allowed', state })
    expect(grantLease(big, state, START, leaseArguments({ sequence: 2, kept: 4 * T })).granted).toBe(4 * T)
  })

  it('stays through a reset, which fills what it leaves', () => {
    const state = decide(onLease(4), START, 6).state as LeasedState
    const reset = resetLeased(state, START)
    expect(decide(reset, START, 6).outcome).toBe('allowed')
    expect(decide(reset, START + S, 6.000001).outcome).toBe('denied')
    expect(resetLeased(state, START + 2 * S)).toBeUndefined()
  })

  it('a refund fills no more than leases leave, a penalty takes as ever', () => {
    const state = onLease(4)
    const refunded = kernel.adjust(ten, decide(state, START, 5).state, START, 9 * T, 0)
    expect(decide(refunded, START, 6.000001).outcome).toBe('denied')
    expect(decide(refunded, START, 6).outcome).toBe('allowed')
    expect(kernel.adjust(ten, state, START + 1, 20 * T, 0)).toMatchObject({ leases: state.leases })
    const taken = kernel.adjust(ten, state, START, -8 * T, 0)
    expect(decide(taken, START, 1)).toMatchObject({ outcome: 'denied', retryAfter: 0.3 * S })
    expect(kernel.adjust(ten, state, START + 3 * S, 5 * T, 0, START)).toBe(state)
    expect(kernel.adjust(ten, state, START + 3 * S, 5 * T, 0)).toBeUndefined()
    const penalized = kernel.adjust(ten, state, START + 3 * S, -3 * T, 0)
    expect(penalized).not.toHaveProperty('leases')
    expect(decide(penalized, START + 3 * S, 7)).toMatchObject({ outcome: 'allowed', remaining: 0 })
  })

  it('a changed limit leaves what was left, and what is leased (law 7)', () => {
    const state = onLease(4)
    const small = tokenBucket({ rate: '1/s', burst: 5 }).plan
    const adopted = kernel.adopt(small, state, START, 0)
    expect(kernel.decide(small, adopted, START, T, 0)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(kernel.decide(small, adopted, START, 2 * T, 0)).toMatchObject({ outcome: 'denied', retryAfter: 3 * S })
    const tiny = tokenBucket({ rate: '1/s', burst: 3 }).plan
    const none = kernel.adopt(tiny, state, START, 0)
    expect(kernel.decide(tiny, none, START, T, 0)).toMatchObject({ outcome: 'denied', retryAfter: 3 * S, remaining: 0 })
    const wide = tokenBucket({ rate: '10/s', burst: 100 }).plan
    expect(kernel.decide(wide, kernel.adopt(wide, state, START, 0), START, 7 * T, 0).outcome).toBe('denied')
    expect(kernel.adopt(wide, state, START + 3 * S, 0)).toBeUndefined()
    expect(kernel.adopt(ten, state, START, 0)).toBe(state)
  })

  it('is for token buckets: other limits stay as they are', () => {
    const window = fixedWindow({ limit: 1, window: '1s' })
    expect(leasing(window)).toBe(window)
    expect(leasing(tokenBucket({ rate: '1/s', burst: 1 })).algorithm).toBe(kernel)
  })
})

describe('a bucket that nothing of is out on lease', () => {
  it('is the kernel', () => {
    const step = fc.record({ jump, share, kind: fc.constantFrom('decide', 'decide', 'give', 'take', 'settle') })
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 60 }), (given, trace) => {
        const { plan } = limitOf(given)
        let state: LeasedState | undefined
        let now = START
        for (const { kind, ...drawn } of trace) {
          now += drawn.jump
          const cost = Math.round(costOf(drawn.share, given.burst) * T)
          const view = kernel.view(plan, state, now, 0)
          expect(view).toEqual(tokenBucketKernel.view(plan, state, now, 0))
          if (kind === 'settle') {
            const { granted, state: same } = grantLease(plan, state, now, leaseArguments({ want: 0, returned: T }))
            expect({ granted, same }).toEqual({ granted: 0, same: state })
          } else if (kind === 'decide') {
            const [mine, its] = [kernel.decide(plan, state, now, cost, 0), tokenBucketKernel.decide(plan, state, now, cost, 0)]
            expect({ ...mine, next: 0 }).toEqual({ ...its, next: 0 })
            state = mine.state
          } else {
            const amount = kind === 'give' ? cost : -cost
            const its = tokenBucketKernel.adjust(plan, state, now, amount, 0)
            state = kernel.adjust(plan, state, now, amount, 0)
            expect(state).toEqual(its)
          }
          if (state !== undefined) expect(kernel.expiresAt(plan, state)).toBe(tokenBucketKernel.expiresAt(plan, state))
        }
      }),
      { seed: SEED, numRuns: draws(300, 100) },
    )
  })
})
