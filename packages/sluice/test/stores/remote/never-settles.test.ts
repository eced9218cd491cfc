import { describe, expect, it } from 'vitest'
import { settle } from './held-store.ts'
import { call, ringBench } from './ring-bench.ts'
import { type Answered, counts, wireBench } from './wire-bench.ts'

describe('R14: a store that never settles', () => {
  it('has its callers answered at their deadlines', async () => {
    const { ask, pass, server } = wireBench({ breaker: false })
    server('').state = 'hung'
    const all: Answered[] = []
    await pass(200, (at) => {
      all.push(ask(`k${at}`, 10 + (at % 50)), ask(`p${at}`, 10 + (at % 30), { charge: false }))
      if (at === 100)
        all.push(
          ask(
            Array.from({ length: 300 }, (_, index) => ({ calls: [call(`l${index}`)] })),
            30,
          ),
        )
    })
    await pass(70)
    const late = all.map(({ askedAt, answeredAt = Number.POSITIVE_INFINITY }, index) => [answeredAt - askedAt, index])
    expect(late.every(([ms]) => (ms as number) <= 61)).toBe(true)
    expect(Object.keys(counts(all)).sort()).toEqual(['timeout no', 'timeout unknown'])
  })

  it('has its batches in flight dropped after the deadline, so that the lane goes on', async () => {
    const { ask, calls, sent, pass } = ringBench({ breaker: false })
    const lost = [ask('a', { deadline: 20 })]
    await pass(3)
    lost.push(ask('b', { deadline: 30 }))
    await settle()
    await pass(3)
    // Two batches may be in flight, and both places are taken. The first batch is dropped a millisecond after its deadline.
    const next = ask('c', { deadline: 60 })
    await pass(14)
    expect(sent()).toEqual([['a'], ['b']])
    await pass(1)
    expect(sent()).toEqual([['a'], ['b'], ['c']])
    await calls[2]?.answer()
    expect([...lost, next].map(({ outcomes }) => outcomes)).toEqual([['timeout unknown'], 'waits', ['allowed']])
    await pass(40)
    expect(lost[1]?.outcomes).toEqual(['timeout unknown'])
    // Answers to batches that were dropped change nothing.
    await calls[0]?.answer()
    await calls[1]?.fail(new Error('theirs'))
    const again = ask('d')
    await settle()
    await calls[3]?.answer()
    expect(again.outcomes).toEqual(['allowed'])
  })

  it('is found by the breaker, and found well again', async () => {
    const { ask, pass, ring, server } = wireBench()
    server('').state = 'hung'
    await pass(200, (at) => void ask(`k${at}`))
    expect(ring.breakerState).toBe('open')
    server('').state = 'up'
    await pass(320, (at) => void ask(`k${at}`))
    expect(ring.breakerState).toBe('closed')
  })

  it('and is slow with calls that had little time left opens no breaker', async () => {
    const { ask, calls, ring, pass } = ringBench({ breaker: { failures: 1 } })
    const slow = [ask('a', { deadline: 1_000 })]
    await pass(3)
    slow.push(ask('b', { deadline: 1_000 }))
    await pass(3)
    const late = ask('c', { deadline: 40 })
    await pass(30)
    await calls[0]?.answer()
    expect(calls.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c']])
    await pass(20)
    expect([late.outcomes, ring.breakerState]).toEqual([['timeout unknown'], 'closed'])
  })
})
