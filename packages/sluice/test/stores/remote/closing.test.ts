import { describe, expect, it } from 'vitest'
import { settle } from './held-store.ts'
import { call, group, outcomeOf, reset, ringBench } from './ring-bench.ts'

describe('close', () => {
  it('waits for what is in flight or waits, and refuses what comes then', async () => {
    let innerClosed = false
    const { ring, ask, calls, answerAll } = ringBench({}, undefined, (store) => ({
      ...store,
      close: async () => void (innerClosed = true),
    }))
    const [first, peek] = [ask('a'), ask('a', { charge: false })]
    await settle()
    const waiting = ask('b')
    let closed = false
    const closing = ring.close().then(() => (closed = true))
    await settle()
    expect([closed, innerClosed]).toEqual([false, false])
    const sent = calls.length
    const late = [ask('c'), ask('c', { charge: false })]
    expect(await Promise.all(late.map(({ answer }) => answer))).toEqual([['unavailable no'], ['unavailable no']])
    expect(await ring.change([{ kind: 'reset', id: call('c').id }])).toMatchObject([{ failure: { kind: 'unavailable', executed: 'no' } }])
    expect(calls).toHaveLength(sent)
    await answerAll()
    expect([first, peek, waiting].map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed'], ['allowed']])
    await closing
    expect(innerClosed).toBe(true)
    await ring.close()
  })

  it('waits for at most five seconds, and fails what was not sent', async () => {
    const { ring, ask, pass } = ringBench({ deadline: 60_000 })
    ask('a')
    await pass(3)
    ask('b')
    await pass(3)
    const waiting = ask('c')
    const closing = ring.close()
    await settle()
    await pass(4_999)
    expect(waiting.outcomes).toBe('waits')
    await pass(1)
    await closing
    expect(waiting.outcomes).toEqual(['unavailable no'])
  })

  it('stops probing, in every lane', async () => {
    const { ring, calls, clock, pass } = ringBench({}, undefined, (store) => ({ ...store, laneOf: ([id]) => id?.key }))
    for (const key of ['a', 'b']) {
      for (let failed = 0; failed < 3; failed += 1) {
        const one = ring.decide([group(key)])
        await settle()
        await calls.pop()?.fail(reset())
        expect((await one).map(outcomeOf)).toEqual(['connection unknown'])
      }
    }
    expect(ring.breakerState).toBe('open')
    await ring.close()
    clock.advance(60_000)
    await pass(1)
    expect(calls).toEqual([])
  })
})
