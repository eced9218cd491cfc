import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { Call, CallGroup, CallOptions, StoreFailure } from '../../../src/stores/store.ts'
import { withCoalescing } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'

const limit = tokenBucket({ rate: '1/s', burst: 10 })
const call = (key: string): Call => ({ id: { scope: { text: 'c:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })
const group = (key: string): CallGroup => ({ calls: [call(key)] })

function bench() {
  const clock = manualClock()
  const held = heldStore(clock)
  const store = withCoalescing(held.store, { clock })
  const ask = (key: string, options?: CallOptions): Promise<string> =>
    store.consume([group(key)], options).then(
      ([verdict]) => verdict?.outcome ?? '',
      ({ kind, executed }: StoreFailure) => `${kind} ${executed}`,
    )
  return { clock, ...held, store, ask, sent: () => held.calls.map(({ verb, keys }) => [verb, ...keys]) }
}

/** What has been said so far. */
function heard(answers: readonly Promise<string>[]): string[] {
  const said = answers.map(() => 'waits')
  answers.forEach((answer, index) => void answer.then((text) => (said[index] = text)))
  return said
}

describe('a caller who leaves a joint call', () => {
  it('by his signal, is told whether it was sent, and the others are answered', async () => {
    const { ask, sent, calls, answerAll } = bench()
    const [one, other, early] = [new AbortController(), new AbortController(), new AbortController()]
    const said = heard([ask('a', { signal: one.signal }), ask('b')])
    await settle()
    const waiting = heard([ask('c', { signal: other.signal }), ask('d')])
    one.abort()
    other.abort()
    early.abort()
    await settle()
    expect([...said, ...waiting]).toEqual(['aborted unknown', 'waits', 'aborted no', 'waits'])
    expect(await ask('e', { signal: early.signal })).toBe('aborted no')
    await calls[0]?.answer()
    expect(sent()[1]).toEqual(['consume', 'd'])
    await answerAll()
    expect([...said, ...waiting]).toEqual(['aborted unknown', 'allowed', 'aborted no', 'allowed'])
  })

  it('X7: lets those go who waited for nobody but him', async () => {
    const { ask, store, sent, answerAll } = bench()
    const id = (key: string) => call(key).id
    const running = store.reset([id('a')])
    const leaving = new AbortController()
    const left = store
      .reset([id('a'), id('b')], { signal: leaving.signal })
      .catch(({ kind, executed }: StoreFailure) => `${kind} ${executed}`)
    const said = heard([ask('b')])
    await settle()
    expect(sent()).toEqual([['reset', 'a']])
    leaving.abort()
    await settle()
    expect(await left).toBe('aborted no')
    expect(sent()).toEqual([
      ['reset', 'a'],
      ['consume', 'b'],
    ])
    await answerAll()
    await running
    expect(said).toEqual(['allowed'])
  })

  it('by his deadline, is told in time, and the others are answered', async () => {
    const { clock, ask, calls, answerAll } = bench()
    const said = heard([ask('a', { deadline: 10 }), ask('b', { deadline: 30 }), ask('c')])
    await settle()
    const waiting = heard([ask('d', { deadline: 20 }), ask('e', { deadline: 40 })])
    expect(calls[0]?.options?.deadline).toBeUndefined()
    clock.advance(9.9)
    await settle()
    expect(said[0]).toBe('waits')
    clock.advance(0.1)
    await settle()
    // Somebody's time is up: the queue waits no longer.
    expect([...said, ...waiting]).toEqual(['timeout unknown', 'waits', 'waits', 'waits', 'waits'])
    expect(calls[1]).toMatchObject({ keys: ['d', 'e'], options: { deadline: 40 } })
    clock.advance(10)
    await settle()
    expect([...said, ...waiting]).toEqual(['timeout unknown', 'waits', 'waits', 'timeout unknown', 'waits'])
    clock.advance(15)
    await settle()
    expect([...said, ...waiting]).toEqual(['timeout unknown', 'timeout unknown', 'waits', 'timeout unknown', 'waits'])
    await answerAll()
    expect([...said, ...waiting]).toEqual(['timeout unknown', 'timeout unknown', 'allowed', 'timeout unknown', 'allowed'])
  })

  it('whose call was not sent by his deadline is told that nothing was charged', async () => {
    const { clock, ask, calls } = bench()
    const said = heard([ask('a', { deadline: 50 })])
    await settle()
    const waiting = heard([ask('b', { deadline: 20 }), ask('c', { deadline: 60 })])
    clock.advance(20)
    await settle()
    // A call that travels alone is the store's to settle, by the deadline that it was given.
    expect(calls[0]?.options?.deadline).toBe(50)
    expect([...said, ...waiting]).toEqual(['waits', 'timeout no', 'waits'])
    await calls[0]?.answer()
    expect(calls[1]?.keys).toEqual(['c'])
    const late = ask('d', { deadline: 20 })
    clock.advance(0)
    expect(await late).toBe('timeout no')
  })

  it('is not sent when he is too late already', async () => {
    const { clock, ask, calls, answerAll } = bench()
    clock.advance(100)
    const said = heard([ask('a', { deadline: 100 }), ask('b', { deadline: 101 })])
    await answerAll()
    expect(said).toEqual(['timeout no', 'allowed'])
    expect(await ask('a', { deadline: 99 })).toBe('timeout no')
    expect(calls).toEqual([])
  })

  it('leaves no timer behind', async () => {
    const clock = manualClock()
    let timers = 0
    const counting = {
      ...clock,
      after: (ms: number, fn: () => void) => {
        timers += 1
        const cancel = clock.after(ms, fn)
        return () => {
          timers -= 1
          cancel()
        }
      },
    }
    const held = heldStore(clock)
    const store = withCoalescing(held.store, { clock: counting })
    const answers = ['a', 'b', 'c'].map((key) => store.consume([group(key)], { deadline: 50 }))
    await settle()
    expect(timers).toBe(1)
    await held.answerAll()
    await Promise.all(answers)
    expect(timers).toBe(0)
    const { signal } = new AbortController()
    const listening = store.consume([group('a')], { signal })
    await held.answerAll()
    await listening
  })

  it('is not heard again when the answer comes after all', async () => {
    const { clock, ask, calls } = bench()
    const said = heard([ask('a', { deadline: 10 }), ask('b', { deadline: 10 })])
    await settle()
    clock.advance(10)
    await settle()
    await calls[0]?.answer()
    expect(said).toEqual(['timeout unknown', 'timeout unknown'])
    const next = heard([ask('a')])
    await settle()
    await calls[1]?.answer()
    expect(next).toEqual(['allowed'])
  })
})
