import { describe, expect, it } from 'vitest'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'
import type { Decided } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { call as leasedCall } from './lease-bench.ts'
import { leasingStore } from './leasing-store.ts'
import { settle } from './held-store.ts'
import { call, group, reset, ringBench } from './ring-bench.ts'

/** Options as a program has them where nothing was chosen. */
function unchosen(...names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

describe('an option of the ring that is undefined has its default', () => {
  it.each(['failures', 'windowMs', 'probeMs'])('breaker.%s', async (name) => {
    const { ask, calls, pass, ring } = ringBench({ batching: false, breaker: unchosen(name) })
    for (let failed = 0; failed < 3; failed += 1) {
      ask('k', { deadline: 1_000 })
      await settle()
      await calls.shift()?.fail(reset())
    }
    expect(ring.breakerState).toBe('open')
    await pass(249)
    expect(calls).toEqual([])
    await pass(1)
    // Without a decided group the probe is `ready()`, which a held store answers at once.
    expect(ring.breakerState).toBe('half-open')
    await ring.close()
  })

  it('breaker.deadlineMs: a probe without an answer ends, and the next one follows', async () => {
    const { ask, answerAll, calls, pass, ring } = ringBench({ batching: false, breaker: unchosen('deadlineMs') })
    ask('k', { deadline: 1_000 })
    await answerAll()
    for (let failed = 0; failed < 3; failed += 1) {
      ask('k', { deadline: 1_000 })
      await settle()
      await calls.shift()?.fail(reset())
    }
    await pass(250 + 50 + 249)
    expect(calls.map(({ verb }) => verb)).toEqual(['peek'])
    await pass(1)
    expect(calls.map(({ verb }) => verb)).toEqual(['peek', 'peek'])
    await answerAll()
    await ring.close()
  })

  it.each(['maxDeniedMs', 'maxDenials'])('denials.%s', async (name) => {
    const { ring, answerAll, calls, clock } = ringBench({ denials: unchosen(name) })
    const both = ['k', 'l']
    const denied = both.flatMap((key) => [ring.decide([{ calls: [call(key, 10)] }]), ring.decide([group(key)])])
    await answerAll()
    await Promise.all(denied)
    clock.advance(500)
    const again = ring.decide(both.map((key) => group(key)))
    await settle()
    expect(calls).toEqual([])
    const remembered = { outcome: 'denied', source: 'denied-cache' }
    expect(await again).toMatchObject([remembered, remembered])
    await ring.close()
  })

  it.each(['lifeMs', 'share', 'afterCalls', 'maxKeys'])('leases.%s', async (name) => {
    const clock = manualClock()
    const ring = remoteStore(leasingStore(clock), { clock, leases: unchosen(name) })
    const busy = { calls: [leasedCall('k')] }
    const sources: unknown[] = []
    for (let index = 0; index < 17; index += 1) sources.push(((await ring.decide([busy])) as readonly [Decided])[0].source ?? 'store')
    expect([sources[0], sources.at(-1)]).toEqual(['store', 'lease'])
    clock.advance(400)
    expect(ring.leasedTokens).toBeGreaterThan(0)
    clock.advance(600)
    expect(ring.leasedTokens).toBe(0)
    await ring.close()
  })
})
