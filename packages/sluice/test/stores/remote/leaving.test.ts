import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'
import { group, groups, keys, ringBench } from './ring-bench.ts'

describe('a caller that leaves a batch', () => {
  it('by its signal learns whether it was sent, and the others are answered', async () => {
    const { ask, sent, calls, answerAll } = ringBench()
    const [one, other, early] = [new AbortController(), new AbortController(), new AbortController()]
    const first = [ask('a', { signal: one.signal }), ask('b')]
    await settle()
    const next = [ask('c', { signal: other.signal }), ask('d')]
    one.abort()
    other.abort()
    early.abort()
    await settle()
    expect([...first, ...next].map(({ outcomes }) => outcomes)).toEqual([['aborted unknown'], 'waits', ['aborted no'], 'waits'])
    expect(await ask('e', { signal: early.signal }).answer).toEqual(['aborted no'])
    await calls[0]?.answer()
    expect(sent()[1]).toEqual(['d'])
    await answerAll()
    expect([...first, ...next].map(({ outcomes }) => outcomes)).toEqual([['aborted unknown'], ['allowed'], ['aborted no'], ['allowed']])
  })

  it('by its signal, with a list: what was not sent is not executed, what was sent is unknown, what was answered stands', async () => {
    const { ask, sent, calls, answerAll } = ringBench({ batching: { maxCalls: 10 } })
    const leaving = new AbortController()
    const list = ask(keys('l', 40), { signal: leaving.signal })
    const other = ask('other')
    await settle()
    expect(sent().map(({ length }) => length)).toEqual([6, 10])
    await calls.shift()?.answer()
    expect(sent().map(({ length }) => length)).toEqual([10, 10])
    leaving.abort()
    await settle()
    // Two callers share a batch, so each gets half of it, and the first batch had five calls of the list. Two batches of ten were in
    // flight, and 15 calls were not sent.
    expect(list.outcomes).toEqual([
      ...Array<string>(5).fill('allowed'),
      ...Array<string>(20).fill('aborted unknown'),
      ...Array<string>(15).fill('aborted no'),
    ])
    expect(other.outcomes).toEqual(['allowed'])
    await answerAll()
    expect(calls).toEqual([])
    const later = ask('later')
    await answerAll()
    expect(later.outcomes).toEqual(['allowed'])
  })

  it('by its deadline is answered in time, and the others are answered', async () => {
    const { ask, calls, pass, answerAll } = ringBench()
    const first = [ask('a', { deadline: 10 }), ask('b', { deadline: 30 }), ask('c')]
    await settle()
    ask('x')
    await pass(2)
    expect(calls).toHaveLength(2)
    const next = [ask('d', { deadline: 20 }), ask('e', { deadline: 40 })]
    expect(calls[0]?.options?.deadline).toBe(1_000)
    await pass(8)
    expect(first[0]?.outcomes).toBe('waits')
    await pass(30)
    expect([...first, ...next].map(({ outcomes, answeredAt }) => [outcomes, answeredAt])).toEqual([
      // The store has a millisecond to settle what it was sent.
      [['timeout unknown'], 11],
      [['timeout unknown'], 31],
      ['waits', undefined],
      [['timeout no'], 20],
      [['timeout no'], 40],
    ])
    expect(calls).toHaveLength(2)
    await answerAll()
    expect(first[2]?.outcomes).toEqual(['allowed'])
  })

  it('is sent nowhere if it is too late already', async () => {
    const { ask, clock, calls, answerAll } = ringBench()
    clock.advance(100)
    const both = [ask('a', { deadline: 100 }), ask('b', { deadline: 101 })]
    await answerAll()
    expect(both.map(({ outcomes }) => outcomes)).toEqual([['timeout no'], ['allowed']])
    expect(await ask('a', { deadline: Number.NaN }).answer).toEqual(['timeout no'])
    expect(calls).toEqual([])
  })

  it('is not sent when its deadline has passed, even if the event loop was held until then', async () => {
    const { ask, calls, clock, pass } = ringBench()
    ask('a', { deadline: 1_000 })
    await pass(3)
    ask('b', { deadline: 1_000 })
    await pass(1)
    const [late, next] = [ask('late', { deadline: 20 }), ask('next', { deadline: 100 })]
    // No timer runs.
    clock.shift(30_000)
    await calls[0]?.answer()
    expect(calls.map(({ keys: of }) => of)).toEqual([['a'], ['b'], ['next']])
    await pass(1)
    expect([late.outcomes, next.outcomes]).toEqual([['timeout no'], 'waits'])
  })

  it('is not answered again when the answer comes after all', async () => {
    const { ask, calls, pass } = ringBench()
    const late = [ask('a', { deadline: 10 }), ask('b', { deadline: 10 })]
    await settle()
    await pass(11)
    await calls[0]?.answer()
    expect(late.map(({ outcomes }) => outcomes)).toEqual([['timeout unknown'], ['timeout unknown']])
    const next = ask('a')
    await settle()
    await calls[1]?.answer()
    expect(next.outcomes).toEqual(['allowed'])
  })

  it('leaves no timer and no listener behind', async () => {
    const clock = manualClock()
    let timers = 0
    const counting = {
      ...clock,
      after: (ms: number, fn: () => void) => {
        timers += 1
        const done = (): void => void (timers -= 1)
        const cancel = clock.after(ms, () => {
          done()
          fn()
        })
        return () => {
          done()
          cancel()
        }
      },
    }
    const held = heldStore(clock)
    const ring = remoteStore(held.store, { clock: counting, denials: false })
    const { signal } = new AbortController()
    const answers = groups(['a', 'b', 'c']).map((one) => ring.decide([one], { deadline: 5_000, signal }))
    await settle()
    expect([timers, getEventListeners(signal, 'abort').length]).toEqual([1, 3])
    await held.answerAll()
    await Promise.all(answers)
    expect([timers, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
    const failing = ring.decide([group('a')], { deadline: clock.monotonic() + 50, signal })
    clock.advance(100)
    await failing
    expect([timers, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  })
})
