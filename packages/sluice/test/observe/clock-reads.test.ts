import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import type { ChargeEvent, DecisionEvent, Observer, StoreEvent } from '../../src/observe/events.ts'
import { prometheusMetrics } from '../../src/observe/metrics.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { type Store, StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'

/** A clock that moves by a millisecond at each reading, and counts the readings. The store uses another clock. */
function countingClock() {
  const clock = manualClock()
  let reads = 0
  const monotonic = (): number => {
    reads += 1
    return reads
  }
  return { clock: { ...clock, monotonic }, reads: () => reads }
}

const FACTS = { method: 'GET', path: '/', headers: {}, ip: '1.1.1.1' }

function engineOf(observers: readonly Observer[], store: Store = memoryStore({ clock: manualClock() }), onStoreFailure = 'local') {
  const { clock, reads } = countingClock()
  const rule = `{ name: e, key: ["ip:address"], rate: 1/s, burst: 9, onStoreFailure: ${onStoreFailure} }`
  const engine = createEngine({ policy: parsePolicy(`version: 1\nrules: [${rule}]`), store, clock, observers })
  return { decide: () => engine.decide(FACTS), reads }
}

async function readsOfLimiter(observers: readonly Observer[]): Promise<number> {
  const { clock, reads } = countingClock()
  const limit = tokenBucket({ rate: '1/s', burst: 9 })
  const limiter = createLimiter({ limit, store: memoryStore({ clock: manualClock() }), clock, observers })
  await limiter.check('k')
  limiter.checkSync('k')
  return reads()
}

/** An observer that keeps how long decisions and store calls took. */
function durations() {
  const seen: { of: string; durationMs: number }[] = []
  const observer: Observer = {
    onStoreCall: ({ durationMs }: StoreEvent) => void seen.push({ of: 'call', durationMs }),
    onDecision: ({ durationMs }: DecisionEvent) => void seen.push({ of: 'decision', durationMs }),
  }
  return { seen, observer }
}

describe('readings of the clock', () => {
  it('metrics add none to a decision of an engine in memory', async () => {
    const [alone, observed] = [engineOf([]), engineOf([prometheusMetrics()])]
    for (const { decide } of [alone, observed]) for (let nth = 0; nth < 3; nth += 1) await decide()
    expect(observed.reads()).toBe(alone.reads())
  })

  it('a limiter in memory reads it twice for each decision that is observed, else never', async () => {
    expect(await readsOfLimiter([])).toBe(0)
    expect(await readsOfLimiter([{ onDecision: () => {} }])).toBe(4)
    expect(await readsOfLimiter([{ onStoreCall: () => {} }])).toBe(4)
    expect(await readsOfLimiter([prometheusMetrics()])).toBe(4)
  })

  it('a decision takes as long as its call in memory, by one reading', async () => {
    const { seen, observer } = durations()
    await engineOf([observer]).decide()
    expect(seen).toEqual([
      { of: 'call', durationMs: 1 },
      { of: 'decision', durationMs: 1 },
    ])
  })

  it.each(['local', 'deny'])('a decision that its store did not make ends after its failure policy (%s)', async (onStoreFailure) => {
    const { seen, observer } = durations()
    const failure = new StoreFailure('connection', 'no', 'away')
    const store: Store = { ...memoryStore({ clock: manualClock() }), decideNow: () => ({ failure }) }
    await engineOf([observer], store, onStoreFailure).decide()
    expect(seen).toEqual([
      { of: 'call', durationMs: 1 },
      { of: 'decision', durationMs: 2 },
    ])
  })
})

// A rejection that nobody handles would fail the run of the tests.
it.each([
  [
    'throws',
    (): never => {
      throw new Error('an observer that fails')
    },
  ],
  ['rejects', () => Promise.reject(new Error('an observer that fails')) as never],
])('an observer that %s keeps no event from the others', async (_, fails) => {
  const seen: string[] = []
  const notes: Observer = {
    onDecision: ({ limiter }) => void seen.push(limiter),
    onStoreCall: ({ operation }) => void seen.push(operation),
    onCharge: ({ rule }: ChargeEvent) => void seen.push(rule),
  }
  await engineOf([{ onDecision: fails, onStoreCall: fails, onCharge: fails }, {}, notes]).decide()
  expect(seen).toEqual(['decide', 'policy', 'e'])
})
