import { describe, expect, it } from 'vitest'
import { type Change, StoreFailure } from '../../../src/stores/store.ts'
import { settle } from './held-store.ts'
import { call, ringBench } from './ring-bench.ts'
import { type Answered, counts, DEADLINE_MS, slowest, wireBench } from './wire-bench.ts'
import { draws } from '../../draws.ts'

const everyMs = (gap: number, made: (index: number) => void): ((at: number) => void) => {
  let count = 0
  return (at) => {
    if (at % gap === 0) made((count += 1))
  }
}

describe('R2: a reset connection', () => {
  it('fails the batches in flight and nobody else, and the breaker stays closed', async () => {
    const { ask, pass, ring, resetInFlight, server } = wireBench()
    const all: Answered[] = []
    const load = (): void => {
      for (let caller = 0; caller < 10; caller += 1) all.push(ask(`k${all.length}`))
    }
    server('').latencyMs = 3
    await pass(50, load)
    const lost = resetInFlight()
    // The client connects anew, and meanwhile has no connection.
    server('').state = 'away'
    await pass(20, load)
    server('').state = 'up'
    await pass(60, load)
    await pass(DEADLINE_MS + 2)
    expect(lost.length).toBeGreaterThan(0)
    expect(counts(all)).toEqual({ allowed: 1_300 - lost.length, 'connection unknown': lost.length })
    expect(all.filter(({ outcomes }) => outcomes?.[0] !== 'allowed').map(({ groups }) => groups[0]?.calls[0]?.id.key)).toEqual(lost)
    expect(ring.breakerState).toBe('closed')
    expect(slowest(all)).toBeLessThanOrEqual(20 + 16 + 2 * 3 + 1)
  })

  it('of each batch, sends nothing twice that may have been executed', async () => {
    const { ask, pass, sent, server, resetInFlight } = wireBench()
    const all: Answered[] = []
    server('').latencyMs = 3
    await pass(100, (at) => {
      all.push(ask(`k${at}`))
      if (at % 20 === 19) resetInFlight()
    })
    await pass(DEADLINE_MS + 2)
    expect(sent.flatMap(({ keys }) => keys).sort()).toEqual(all.map((_, at) => `k${at}`).sort())
    expect(Object.keys(counts(all)).sort()).toEqual(['allowed', 'connection unknown'])
  })

  it('that stays away until the deadline fails callers with what is wrong, not executed', async () => {
    const { ask, pass, server } = wireBench({ breaker: false })
    server('').state = 'away'
    const both = [ask('a'), ask('b', 20)]
    await pass(DEADLINE_MS + 2)
    expect(both.map(({ outcomes, answeredAt }) => [outcomes, answeredAt])).toEqual([
      [['connection no'], 50],
      [['connection no'], 20],
    ])
  })

  it('that stays away is found by the breaker, even if the event loop is held until deadlines have passed', async () => {
    const { ask, pass, ring, clock, server, sent } = wireBench({ breaker: { failures: 1 } })
    server('').state = 'away'
    const all = [ask('a'), ask('b')]
    await settle()
    expect(ring.breakerState).toBe('closed')
    clock.shift(60_000)
    clock.advance(0)
    await settle()
    expect(counts(all)).toEqual({ 'connection no': 2 })
    expect([sent.length, ring.breakerState]).toEqual([1, 'open'])
    await pass(1)
    await ring.close()
  })
})

describe('R2: a nonsense reply', () => {
  it('fails its batch alone', async () => {
    const { ask, pass, ring, server } = wireBench()
    const all: Answered[] = []
    await pass(100, (at) => {
      if (at === 50) server('').nonsense = 1
      all.push(ask(`k${at}`))
    })
    await pass(5)
    expect(counts(all)).toEqual({ allowed: 99, 'protocol unknown': 1 })
    expect(ring.breakerState).toBe('closed')
  })
})

describe('R2: a server that is gone', () => {
  const WAYS = ['away', 'refusing', 'silent', 'hung'] as const
  const RATES: readonly (readonly [name: string, gap: number, callers: number])[] = [
    ['twenty a millisecond', 1, 20],
    ['one a millisecond', 1, 1],
    ['one every 20 ms', 20, 1],
    ['one every 60 ms', 60, 1],
  ]
  const cases = WAYS.flatMap((state) => RATES.map((rate) => [state, ...rate] as const))
  // Each way and each rate once.
  it.each(cases.filter((_, index) => index % draws(1, RATES.length + 1) === 0))(
    '(%s) opens the breaker within 400 ms at %s, which closes within 300 ms of its return',
    async (state, _, gap, callers) => {
      const { ask, pass, ring, server, sent } = wireBench()
      const all: Answered[] = []
      const load = everyMs(gap, (index) => {
        for (let caller = 0; caller < callers; caller += 1) all.push(ask(`k${index}:${caller}`))
      })
      // What went well before does not keep it closed.
      await pass(300, load)
      expect(counts(all.slice(0, -callers))).toEqual({ allowed: all.length - callers })
      server('').state = state
      let opened = 0
      for (; ring.breakerState === 'closed' && opened < 1_000; opened += 1) await pass(1, load)
      expect(opened).toBeLessThanOrEqual(400)
      expect(ring.breakerState).toBe('open')
      await pass(60, load)
      const refused = all.length
      const before = sent.length
      await pass(300, load)
      const later = all.slice(refused)
      expect(counts(later)).toEqual({ 'unavailable no': later.length })
      expect(slowest(later)).toBe(0)
      // Probes alone.
      expect(sent.slice(before).every(({ verb }) => verb === 'peek')).toBe(true)
      server('').state = 'up'
      let closed = 0
      for (; ring.breakerState !== 'closed' && closed < 1_000; closed += 1) await pass(1, load)
      expect(closed).toBeLessThanOrEqual(250 + DEADLINE_MS + 5 + gap + 5)
      const back = all.length
      await pass(200, load)
      await pass(5)
      const again = all.slice(back)
      expect(counts(again)).toEqual({ allowed: again.length })
      expect(slowest(all)).toBeLessThanOrEqual(DEADLINE_MS + 1)
      await ring.close()
    },
  )
})

describe('a list of changes', () => {
  it('is sent again if nothing of it was executed, and not if something may have been', async () => {
    const { ring, calls, pass } = ringBench()
    const unsent = new StoreFailure('connection', 'no', 'lost')
    const sent = new StoreFailure('connection', 'unknown', 'lost')
    const reset = (key: string): Change => ({ kind: 'reset', id: call(key).id })
    const made = ring.change([reset('a'), reset('b')], { deadline: 100 })
    const failed = ring.change([reset('c'), reset('d')], { deadline: 100 })
    await settle()
    await calls[0]?.answerWith([{ failure: unsent }, { failure: unsent }])
    await calls[1]?.answerWith([{ failure: unsent }, { failure: sent }])
    expect(await failed).toEqual([{ failure: unsent }, { failure: sent }])
    await pass(5)
    expect(calls.map(({ keys }) => keys)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['a', 'b'],
    ])
    await calls[2]?.answerWith([{}, {}])
    expect(await made).toEqual([{}, {}])
  })
})
