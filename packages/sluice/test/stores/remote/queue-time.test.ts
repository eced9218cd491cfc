import { describe, expect, it } from 'vitest'
import { groups, keys } from './ring-bench.ts'
import { type Answered, counts, DEADLINE_MS, slowest, wireBench } from './wire-bench.ts'

describe('R3: time spent in the queue of the ring', () => {
  it('with loops of lists of 1,000 on a slow store never opens the breaker, and single callers are answered in time', async () => {
    const { ask, pass, ring, server } = wireBench()
    Object.assign(server(''), { latencyMs: 5, perCallMs: 0.05 })
    const lists: (Answered | undefined)[] = Array.from({ length: 8 })
    const done: Answered[] = []
    const singles: Answered[] = []
    await pass(1_000, (at) => {
      for (const [index, list] of lists.entries()) {
        if (list !== undefined && list.outcomes === undefined) continue
        if (list !== undefined) done.push(list)
        lists[index] = ask(groups(keys(`${at}:${index}:`, 1_000)))
      }
      singles.push(ask(`single${at}`))
      expect(ring.breakerState).toBe('closed')
    })
    await pass(DEADLINE_MS + 2)
    expect(done.length).toBeGreaterThan(100)
    // For most calls of a list no time is left, so they were not sent. Some were on their way when the deadline came.
    const of = counts(done)
    expect(Object.keys(of).sort()).toEqual(['allowed', 'timeout no', 'timeout unknown'])
    expect(of['timeout no']).toBeGreaterThan(done.length * 500)
    expect(counts(singles)).toEqual({ allowed: singles.length })
    expect(slowest(singles)).toBeLessThanOrEqual(40)
  })

  it('with 9,000 single calls at once does neither', async () => {
    const { ask, pass, ring, server } = wireBench()
    Object.assign(server(''), { latencyMs: 5, perCallMs: 0.05 })
    const flood = keys('k', 9_000).map((key) => ask(key))
    const later: Answered[] = []
    await pass(300, (at) => {
      if (at > DEADLINE_MS) later.push(ask(`later${at}`))
      expect(ring.breakerState).toBe('closed')
    })
    await pass(DEADLINE_MS + 2)
    const of = counts(flood)
    expect(of['timeout no']).toBeGreaterThan(5_000)
    expect(of.allowed).toBeGreaterThan(500)
    expect(counts(later)).toEqual({ allowed: later.length })
  })

  it('nor with calls that had little time left when they were sent', async () => {
    const { ask, pass, ring, server } = wireBench({ batching: { maxCalls: 1 } })
    server('').latencyMs = 20
    const all: Answered[] = []
    await pass(600, (at) => {
      all.push(ask(`k${at}`, 30))
      expect(ring.breakerState).toBe('closed')
    })
    await pass(DEADLINE_MS)
    expect(Object.keys(counts(all)).sort()).toEqual(['allowed', 'timeout no', 'timeout unknown'])
  })
})
