import { describe, expect, it } from 'vitest'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from '../../src/index.ts'
import { headersOf } from '../../src/http/headers.ts'
import { problemOf } from '../../src/http/problem.ts'
import { remoteStore } from '../../src/stores/remote/remote-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

const RAMPED = fixedWindow({ limit: 10, window: '10s', ramp: '5s' })
const BUCKET = tokenBucket({ rate: '1/s', burst: 5 })
/** A whole window begins here. */
const START = 1_700_000_000_000_000

describe('X5: retryAfter is enough for a group with a ramped window', () => {
  it('is reported by decisions, and waiting it passes, a millisecond less does not', async () => {
    const clock = manualClock(START + 6_000_000)
    const limiter = createLimiter({ limits: { ramped: RAMPED, bucket: BUCKET }, clock })
    await limiter.check('k', { cost: 5 })
    clock.advance(500)
    const denied = limiter.checkSync('k', { cost: 5 })
    expect(denied).toMatchObject({ outcome: 'denied', limitName: 'bucket', retryAfterMs: 6_000 })
    // What the limit that denied needs by itself stays its own.
    expect(denied.limits[1]).toMatchObject({ replenishAfterMs: 4_500 })
    expect(await limiter.peek('k', { cost: 5 })).toMatchObject({ outcome: 'denied', retryAfterMs: 6_000 })
    clock.advance(4_500)
    expect(limiter.checkSync('k', { cost: 5 })).toMatchObject({ outcome: 'denied', limitName: 'ramped', retryAfterMs: 1_500 })
    clock.advance(1_499)
    expect(limiter.checkSync('k', { cost: 5 }).outcome).toBe('denied')
    clock.advance(1)
    expect(limiter.checkSync('k', { cost: 5 }).outcome).toBe('allowed')
  })

  it('a remembered denial reports it as well, shorter by the time that has passed', async () => {
    const clock = manualClock(START + 6_000_000)
    const store = remoteStore(remoteMemory(memoryStore({ clock })), { clock })
    const limiter = createLimiter({ limits: { ramped: RAMPED, bucket: BUCKET }, store, clock })
    await limiter.check('k', { cost: 5 })
    clock.advance(500)
    expect(await limiter.check('k', { cost: 5 })).toMatchObject({ source: 'store', retryAfterMs: 6_000 })
    clock.advance(250)
    expect(await limiter.check('k', { cost: 5 })).toMatchObject({ source: 'denied-cache', retryAfterMs: 5_750 })
  })

  it('rules of a policy are one group: Retry-After follows', async () => {
    const clock = manualClock(START + 6_000_000)
    const policy = parsePolicy(`
version: 1
identifiers: { mode: plain }
rules:
  - { name: ramped, algorithm: fixed-window, limit: 10, window: 10s, ramp: 5s, key: [] }
  - { name: bucket, algorithm: token-bucket, rate: 1/s, burst: 5, key: [] }
`)
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
    const decide = () => engine.decide({ method: 'GET', path: '/', headers: {}, cost: 5 })
    expect((await decide()).outcome).toBe('allowed')
    clock.advance(500)
    const denied = await decide()
    expect(denied).toMatchObject({ outcome: 'denied', retryAfterMs: 6_000 })
    const after = Number(new Map(headersOf(denied, '')).get('Retry-After'))
    expect(after).toBeGreaterThanOrEqual(6)
  })

  it('where no wait was found, nothing is invented: no Retry-After, and no word of it', async () => {
    const slow = fixedWindow({ limit: 5, window: '10s', ramp: '9s' })
    // Both limits have ramps that admit 5 tokens only in the last second of each window. The windows of `other` begin elsewhere, so the two
    // never admit 5 at the same time.
    const clock = manualClock(START + 6_000_000)
    const other = fixedWindow({ limit: 5, window: '10s', ramp: '9s', align: 'key' })
    const limiter = createLimiter({ limits: { slow, other }, clock })
    const key = await keyApart(limiter)
    const decision = await limiter.check(key, { cost: 5 })
    expect(decision.outcome).toBe('denied')
    expect(decision).not.toHaveProperty('retryAfterMs')
    if (decision.outcome !== 'denied') return
    expect(new Map(headersOf(decision, 'x')).has('Retry-After')).toBe(false)
    expect(problemOf(decision).detail).not.toContain('Retry-After')

    async function keyApart(peeked: typeof limiter): Promise<string> {
      for (let index = 0; ; index += 1) {
        const found = await peeked.peek(`k${index}`, { cost: 5 })
        if (found.outcome === 'denied' && found.retryAfterMs === undefined) return `k${index}`
        if (index > 100) throw new Error('every key has a wait')
      }
    }
  })
})
