import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { settle } from './held-store.ts'
import { call, group, groups, ringBench } from './ring-bench.ts'

describe('batches', () => {
  it('are sent in the tick of the calls, which they join', async () => {
    const { ring, sent, answerAll } = ringBench()
    const answers = [groups(['a']), groups(['b']), [group('a', 'c'), group('d')]].map((some) => verbs.decide(ring, some))
    await settle()
    expect(sent()).toEqual([['a', 'b', 'a', 'c', 'd']])
    await answerAll()
    const remaining = (await Promise.all(answers)).map((all) => all.map(({ calls }) => calls.map((one) => one.remaining)))
    expect(remaining).toEqual([[[9]], [[9]], [[8, 9], [9]]])
  })

  it('take in what arrives meanwhile, and the next is sent before answers are handed out', async () => {
    const { ring, ask, sent, calls } = ringBench()
    const order: string[] = []
    const first = ring.decide([group('a', 'b', 'c', 'd', 'e')]).then(() => order.push(`answered with ${sent().length} sent`))
    await settle()
    const others = [ask('b'), ask('a')]
    await settle()
    expect(sent()).toEqual([['a', 'b', 'c', 'd', 'e']])
    await calls[0]?.answer()
    expect(sent()).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      ['b', 'a'],
    ])
    await first
    expect(order).toEqual(['answered with 2 sent'])
    await calls[1]?.answer()
    expect(others.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed']])
  })

  it('answer the callers of one key in order of arrival', async () => {
    const { ring, answerAll } = ringBench()
    const answers = Array.from({ length: 12 }, () => verbs.decide(ring, [group('k')]))
    await answerAll()
    const verdicts = (await Promise.all(answers)).flat()
    expect(verdicts.map(({ outcome }) => outcome)).toEqual([...Array<string>(10).fill('allowed'), 'denied', 'denied'])
    expect(verdicts.slice(0, 10).map(({ calls }) => calls[0]?.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  it('hold at most so many calls, and a group with more goes alone', async () => {
    const { ring, ask, sent, calls } = ringBench({ batching: { maxCalls: 3 } })
    const answers = [ask('a'), ask('b'), ring.decide([group('c', 'd')]), ring.decide([group('e', 'f', 'g', 'h')]), ask('i')]
    await settle()
    const batches: unknown[] = []
    while (calls.length > 0) {
      batches.push(sent()[0])
      await calls.shift()?.answer()
    }
    expect(batches).toEqual([
      ['a', 'b', 'i'],
      ['c', 'd'],
      ['e', 'f', 'g', 'h'],
    ])
    await Promise.all(answers.map((one) => ('answer' in one ? one.answer : one)))
  })

  it('are two at once, each with half, for thirty-two calls or more that arrive with nothing in flight', async () => {
    const { ask, sent, answerAll } = ringBench()
    const names = Array.from({ length: 33 }, (_, index) => `k${index}`)
    const answers = names.map((name) => ask(name))
    await settle()
    expect(sent()).toEqual([names.slice(0, 17), names.slice(17)])
    await answerAll()
    expect(answers.map(({ outcomes }) => outcomes)).toEqual(names.map(() => ['allowed']))
  })

  it('are two in flight where the first has at most four calls, and no more', async () => {
    const { ring, ask, sent, calls } = ringBench()
    void ring.decide([group('a', 'b', 'c', 'd')])
    await settle()
    ask('next')
    ask('and this')
    await settle()
    expect(sent()).toEqual([
      ['a', 'b', 'c', 'd'],
      ['next', 'and this'],
    ])
    for (const key of ['e', 'f', 'g', 'h', 'i']) ask(key)
    await settle()
    expect(sent()).toHaveLength(2)
    await calls.shift()?.answer()
    await calls.shift()?.answer()
    expect(sent()).toEqual([['e', 'f', 'g', 'h', 'i']])
    ask('waits')
    await settle()
    expect(sent()).toHaveLength(1)
  })

  it('are two in flight where sixteen calls wait, and no more', async () => {
    const { ask, sent, calls } = ringBench()
    ask(['f', 'i', 'r', 's', 't'])
    await settle()
    for (let index = 0; index < 15; index += 1) ask(`k${index}`)
    await settle()
    expect(sent()).toHaveLength(1)
    ask('k15')
    await settle()
    expect(sent().map(({ length }) => length)).toEqual([5, 16])
    for (let index = 0; index < 40; index += 1) ask(`m${index}`)
    await settle()
    expect(sent()).toHaveLength(2)
    await calls[1]?.answer()
    expect(sent().map(({ length }) => length)).toEqual([5, 16, 40])
  })

  it('are two in flight where the first takes longer than two milliseconds, and no more', async () => {
    const { ask, sent, pass } = ringBench()
    ask(['f', 'i', 'r', 's', 't'])
    await settle()
    await pass(1)
    const next = ask('next')
    await settle()
    expect(sent()).toEqual([['f', 'i', 'r', 's', 't']])
    await pass(2)
    expect(sent()).toEqual([['f', 'i', 'r', 's', 't'], ['next']])
    expect(next.outcomes).toBe('waits')
    ask('third')
    await pass(5)
    expect(sent()).toHaveLength(2)
  })

  it("leave groups that failed alone to their callers, and the others' as they are", async () => {
    const { ask, answerAll } = ringBench({}, (clock) => memoryStore({ clock, maxKeys: 1 }))
    const answers = [ask('a'), ask('b'), ask('a')]
    await answerAll()
    expect(answers.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['memory no'], ['allowed']])
  })

  it('send groups again that failed alone and were not executed, and hold up no other', async () => {
    const { ask, calls, sent, pass } = ringBench()
    const moved = { failure: new StoreFailure('unavailable', 'no', 'its slot moves') }
    const allowed = { outcome: 'allowed', at: 1, calls: [] }
    const [list, single] = [ask(['a', 'b', 'c']), ask('d')]
    await settle()
    await calls.shift()?.answerWith([allowed, moved, allowed, moved])
    expect([list.outcomes, single.outcomes, sent()]).toEqual(['waits', 'waits', []])
    const other = ask('e')
    await settle()
    expect(sent()).toEqual([['e']])
    await calls.shift()?.answer()
    expect(other.outcomes).toEqual(['allowed'])
    await pass(2)
    expect(sent()).toEqual([['b', 'd']])
    await calls.shift()?.answerWith([moved, allowed])
    expect([list.outcomes, single.outcomes]).toEqual(['waits', ['allowed']])
    await pass(4)
    await calls.shift()?.answer()
    expect(list.outcomes).toEqual(['allowed', 'allowed', 'allowed'])
  })

  it('report such groups with what is wrong when their time is over, or when their caller leaves: not executed', async () => {
    const { ask, calls, pass } = ringBench({ breaker: false })
    const leaving = new AbortController()
    const all = [ask(['a', 'b'], { deadline: 20 }), ask(['c', 'd'], { signal: leaving.signal })]
    await settle()
    const moved = { failure: new StoreFailure('unavailable', 'no', 'its slot moves') }
    const allowed = { outcome: 'allowed', at: 1, calls: [] }
    await calls.shift()?.answerWith([allowed, moved, allowed, moved])
    leaving.abort()
    await settle()
    expect(all[1]?.outcomes).toEqual(['allowed', 'aborted no'])
    for (let ms = 0; ms < 21; ms += 1) {
      await calls.shift()?.answerWith([moved])
      await pass(1)
    }
    expect([all[0]?.outcomes, all[0]?.answeredAt]).toEqual([['allowed', 'unavailable no'], 20])
  })

  it('leave their places when they take longer than the deadline of the ring: others have less time than their callers', async () => {
    const { ask, sent, pass } = ringBench({ breaker: false })
    ask('slow', { deadline: 10_000 })
    await settle()
    await pass(3)
    ask('slow too', { deadline: 10_000 })
    await settle()
    await pass(3)
    ask('next', { deadline: 80 })
    await pass(43)
    expect(sent()).toEqual([['slow'], ['slow too']])
    await pass(1)
    expect(sent()).toEqual([['slow'], ['slow too'], ['next']])
  })

  it("leave out calls at a time of the caller's choosing, and empty ones", async () => {
    const { ring, ask, sent, answerAll } = ringBench()
    ask('a')
    const others = [ring.decide([group('b')], { now: 1 }), ring.decide([])]
    await settle()
    expect(sent()).toEqual([['b'], [], ['a']])
    await answerAll()
    await Promise.all(others)
  })
})

describe('the queue', () => {
  it('refuses what would make it longer than its bound', async () => {
    const { ask, answerAll } = ringBench({ batching: { maxQueued: 2 } })
    ask('a')
    await settle()
    const waiting = [ask('b'), ask('c')]
    const refused = [ask('d'), ask(['e', 'f', 'g'])]
    await settle()
    expect(refused.map(({ outcomes }) => outcomes)).toEqual([['overload no'], ['overload no', 'overload no', 'overload no']])
    await answerAll()
    expect(waiting.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed']])
    const later = ask(['d', 'e'])
    await answerAll()
    expect(later.outcomes).toEqual(['allowed', 'allowed'])
  })

  it('has one bound for all lanes', async () => {
    const { ask, answerAll } = ringBench({ batching: { maxQueued: 2 } }, undefined, (store) => ({
      ...store,
      laneOf: (ids) => ids[0]?.key.charAt(0),
    }))
    for (const key of ['a', 'b']) ask(key)
    await settle()
    const waiting = [ask('a1'), ask('b1')]
    const refused = ask('b2')
    await settle()
    expect(refused.outcomes).toEqual(['overload no'])
    await answerAll()
    expect(waiting.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed']])
  })

  it('refuses as a whole the part of a list for one lane that does not fit, and decides the parts that do', async () => {
    const { ask, answerAll } = ringBench({ batching: { maxQueued: 3 } }, undefined, (store) => ({
      ...store,
      laneOf: (ids) => ids[0]?.key.charAt(0),
    }))
    const list = ask(['a1', 'b1', 'a2', 'b2', 'c1'])
    await answerAll()
    expect(list.outcomes).toEqual(['allowed', 'overload no', 'allowed', 'overload no', 'allowed'])
  })

  it('does not count calls that a remembered denial answers', async () => {
    const { ring, ask, answerAll } = ringBench({ batching: { maxQueued: 2 }, denials: {} })
    for (const calls of [[call('denied', 10)], [call('denied')]]) {
      const decided = ring.decide([{ calls }])
      await answerAll()
      await decided
    }
    const list = ask(['denied', 'denied', 'a', 'b'])
    await answerAll()
    expect(list.outcomes).toEqual(['denied', 'denied', 'allowed', 'allowed'])
  })

  it('is not used where batching is left out', async () => {
    const { ask, sent, answerAll } = ringBench({ batching: false })
    const answers = [ask('a'), ask(['b', 'c']), ask('d')]
    await settle()
    expect(sent()).toEqual([['a'], ['b', 'c'], ['d']])
    await answerAll()
    expect(answers.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed', 'allowed'], ['allowed']])
  })

  it('passes on the deadlines of changes, which wait for no batch', async () => {
    const { ring, ask, calls, clock } = ringBench()
    clock.advance(5)
    ask('a')
    await settle()
    const made = ring.change([{ kind: 'block', id: call('a').id, micros: 5 }], { deadline: 20 })
    const failing = ring.change([{ kind: 'reset', id: call('b').id }])
    await settle()
    expect(calls.slice(1)).toMatchObject([
      { verb: 'change', keys: ['a'], options: { deadline: 20 } },
      { verb: 'change', keys: ['b'], options: { deadline: 1_005 } },
    ])
    await calls[1]?.answer()
    expect(await made).toEqual([{}])
    const failure = new StoreFailure('timeout', 'unknown', 'late')
    await calls[2]?.fail(failure)
    expect(await failing).toEqual([{ failure }])
    const defect = ring.change([{ kind: 'reset', id: call('b').id }])
    await settle()
    await calls[3]?.fail(new Error('theirs'))
    await expect(defect).rejects.toThrow('theirs')
  })
})
