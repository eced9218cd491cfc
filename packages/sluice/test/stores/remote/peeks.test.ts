import { describe, expect, it } from 'vitest'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { settle } from './held-store.ts'
import { call, group, groups, keys, outcomeOf, reset, ringBench } from './ring-bench.ts'

const remainingOf = (verdicts: readonly { readonly calls: readonly { readonly remaining: number }[] }[]): number[] =>
  verdicts.flatMap(({ calls }) => calls.map(({ remaining }) => remaining))

describe('R10: peeks', () => {
  it('are batched', async () => {
    const { ring, calls, sent } = ringBench()
    const peeks = keys('k', 500).map((key) => verbs.peek(ring, [group(key)]))
    await settle()
    const sizes: number[] = []
    for (; calls.length > 0; await calls.shift()?.answer()) sizes.push(sent()[0]?.length ?? 0)
    expect(sizes).toEqual([128, 128, 128, 116])
    expect(remainingOf((await Promise.all(peeks)).flat())).toEqual(Array<number>(500).fill(10))
  })

  it('of one key share the answer, which no other peek changes', async () => {
    const { ring, ask, calls, sent, answerAll } = ringBench()
    ask(['k', 'k'])
    await answerAll()
    const peeks = Array.from({ length: 500 }, (_, index) => verbs.peek(ring, [group(index % 2 === 0 ? 'k' : 'other')]))
    await settle()
    const asked: (readonly string[])[] = []
    for (; calls.length > 0; await calls.shift()?.answer()) asked.push(sent()[0] ?? [])
    expect(asked).toEqual(Array.from({ length: 4 }, () => ['k', 'other']))
    expect(remainingOf((await Promise.all(peeks)).flat())).toEqual(Array.from({ length: 500 }, (_, index) => (index % 2 === 0 ? 8 : 10)))
  })

  it('of one key that are not equal are not decided as if the others had been charged', async () => {
    const { ring, calls, sent, answerAll } = ringBench()
    const other = { ...call('k', 8), limit: tokenBucket({ rate: '1/s', burst: 9 }) }
    const lists = [[{ calls: [call('k', 8)] }], [{ calls: [call('k', 9)] }], [{ calls: [call('k', 8)] }], [{ calls: [other] }]]
    const peeks = lists.map((list) => verbs.peek(ring, list))
    await settle()
    expect(sent()).toEqual([['k'], ['k'], ['k']])
    expect(calls.map(({ verb }) => verb)).toEqual(['peek', 'peek', 'peek'])
    await answerAll()
    expect((await Promise.all(peeks)).flat().map(({ outcome, calls: [one] }) => [outcome, one?.remaining])).toEqual([
      ['allowed', 10],
      ['allowed', 10],
      ['allowed', 10],
      ['allowed', 9],
    ])
  })

  it('in a list are decided as if those before had been charged, however long the list', async () => {
    const { ring, calls, sent, answerAll } = ringBench({ batching: { maxCalls: 5 } })
    const list = verbs.peek(ring, groups(Array<string>(12).fill('k')))
    const single = verbs.peek(ring, [group('k')])
    await settle()
    expect(sent()).toEqual([Array(12).fill('k')])
    await calls.shift()?.answer()
    expect(sent()).toEqual([['k']])
    await answerAll()
    expect((await list).map(({ outcome }) => outcome)).toEqual([...Array<string>(10).fill('allowed'), 'denied', 'denied'])
    expect((await single)[0]?.outcome).toBe('allowed')
  })

  it('hold up no call that charges', async () => {
    const { ring, ask, calls } = ringBench()
    for (const key of keys('k', 1_000)) void ring.decide([group(key)], { charge: false })
    await settle()
    const single = ask('a')
    await settle()
    await calls.find(({ verb }) => verb === 'decide')?.answer()
    expect(single.outcomes).toEqual(['allowed'])
  })

  it('fail together and alone', async () => {
    const { ring, calls } = ringBench()
    const peeks = [ring.decide([group('a'), group('b')], { charge: false }), ring.decide([group('c')], { charge: false, deadline: 0 })]
    await settle()
    await calls[0]?.fail(reset())
    expect((await Promise.all(peeks)).map((verdicts) => verdicts.map(outcomeOf))).toEqual([
      ['connection unknown', 'connection unknown'],
      ['timeout no'],
    ])
  })
})
