import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { LimiterError } from '../../../src/errors/limiter-error.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type Call, type CallGroup, type CallOptions, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { type CoalescingOptions, withCoalescing } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'
import { leasingStore } from './leasing-store.ts'

const limit = tokenBucket({ rate: '1/s', burst: 10 })
const scope = { text: 'c:tb:' }
const call = (key: string, cost = 1): Call => ({ id: { scope, key }, limit, cost: cost * 1_000_000, phase: 0 })
const group = (...keys: string[]): CallGroup => ({ calls: keys.map((key) => call(key)) })

function bench(options: Omit<CoalescingOptions, 'clock'> = {}, inner?: (clock: ReturnType<typeof manualClock>) => Store) {
  const clock = manualClock()
  const held = heldStore(clock, inner?.(clock))
  const store = withCoalescing(held.store, { ...options, clock })
  const ask = (key: string, callOptions?: CallOptions) => store.consume([group(key)], callOptions)
  return { clock, ...held, store, ask, sent: () => held.calls.map(({ verb, keys }) => [verb, ...keys]) }
}

const outcome = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (verdicts) => (verdicts as { outcome: string }[])[0]?.outcome,
    (error: StoreFailure) => `${error.kind} ${error.executed}`,
  )

describe('withCoalescing', () => {
  it('sends what is asked in one tick in that tick, as one call', async () => {
    const { ask, store, sent, answerAll } = bench()
    const answers = [ask('a'), ask('b'), store.consume([group('a', 'c'), group('d')])]
    await settle()
    expect(sent()).toEqual([['consume', 'a', 'b', 'a', 'c', 'd']])
    await answerAll()
    const [a, b, both] = await Promise.all(answers)
    expect(
      [a, b, both?.slice(0, 1), both?.slice(1)].map((verdicts) => verdicts?.map(({ calls }) => calls.map(({ remaining }) => remaining))),
    ).toEqual([[[9]], [[9]], [[8, 9]], [[9]]])
  })

  it('is hurt by no store that throws at once or answers too little: callers are told, and the next are served', async () => {
    const memory = memoryStore()
    let broken: 'throws' | 'short' | undefined = 'throws'
    const { consumeSync: _, ...rest } = memory
    const store = withCoalescing({
      ...rest,
      capabilities: { ...memory.capabilities, sync: false },
      consume: (groups, options) => {
        if (broken === 'throws') throw new StoreFailure('connection', 'no', 'thrown')
        return broken === 'short' ? Promise.resolve([]) : memory.consume(groups, options)
      },
    })
    const ask = (): Promise<unknown>[] => ['a', 'b'].map((key) => outcome(store.consume([group(key)])))
    expect(await Promise.all(ask())).toEqual(['connection no', 'connection no'])
    broken = 'short'
    expect(await Promise.all(ask())).toEqual(['protocol unknown', 'protocol unknown'])
    broken = undefined
    expect(await Promise.all(ask())).toEqual(['allowed', 'allowed'])
    await store.close()
  })

  it('keeps what arrives meanwhile for the next call, which goes out before the answers are handed on', async () => {
    const { ask, sent, calls } = bench()
    const order: string[] = []
    const first = ask('a').then(() => order.push(`answer beside ${sent().length} sent`))
    await settle()
    const others = [ask('b'), ask('a')]
    await settle()
    expect(sent()).toEqual([['consume', 'a']])
    await calls[0]?.answer()
    expect(sent()).toEqual([
      ['consume', 'a'],
      ['consume', 'b', 'a'],
    ])
    await first
    expect(order).toEqual(['answer beside 2 sent'])
    await calls[1]?.answer()
    expect((await Promise.all(others)).map(([verdict]) => verdict?.calls[0]?.remaining)).toEqual([9, 8])
  })

  it('answers the callers of one key in order of arrival', async () => {
    const { ask, answerAll } = bench()
    const answers = Array.from({ length: 12 }, () => ask('k'))
    await answerAll()
    const verdicts = (await Promise.all(answers)).flat()
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([...Array<boolean>(10).fill(true), false, false])
    expect(verdicts.slice(0, 10).map(({ calls }) => calls[0]?.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  it('joins at most so many calls, and sends a caller with more alone', async () => {
    const { store, ask, sent, answerAll, calls } = bench({ maxCalls: 3 })
    const answers = [ask('a'), store.consume([group('b', 'c')]), ask('d'), store.consume([group('e', 'f'), group('g', 'h')]), ask('i')]
    await settle()
    const waves: unknown[] = []
    while (calls.length > 0) {
      waves.push(...sent())
      await calls.shift()?.answer()
    }
    expect(waves).toEqual([
      ['consume', 'a', 'b', 'c'],
      ['consume', 'd'],
      ['consume', 'e', 'f', 'g', 'h'],
      ['consume', 'i'],
    ])
    await answerAll()
    await Promise.all(answers)
  })

  it('refuses what would make the queue longer than its bound', async () => {
    const { ask, answerAll, store } = bench({ maxQueued: 2 })
    const first = ask('a')
    await settle()
    const waiting = [ask('b'), ask('c')]
    expect(await outcome(ask('d'))).toBe('overload no')
    expect(await outcome(store.reset([call('d').id]))).toBe('overload no')
    await answerAll()
    await Promise.all([first, ...waiting])
    const later = ask('d')
    await answerAll()
    expect(await outcome(later)).toBe('allowed')
  })

  it('gives every caller the failure of the joint call', async () => {
    const { ask, calls } = bench()
    const answers = [ask('a'), ask('b')]
    await settle()
    const failure = new StoreFailure('readonly', 'no', 'no')
    await calls[0]?.fail(failure)
    for (const answer of answers) await expect(answer).rejects.toBe(failure)
    const defect = ask('a')
    await settle()
    await calls[1]?.fail(new TypeError('a bug'))
    await expect(defect).rejects.toThrow(TypeError)
  })

  it("a misuse is the one caller's who made it", async () => {
    const { store, ask, calls, sent } = bench()
    const answers = [ask('a'), store.consume([group('wrong')]), ask('b')]
    await settle()
    await calls.shift()?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    expect(sent()).toEqual([
      ['consume', 'a'],
      ['consume', 'wrong'],
      ['consume', 'b'],
    ])
    await calls[1]?.fail(new LimiterError('INVALID_OPTIONS', 'wrong'))
    await calls[0]?.answer()
    await calls[2]?.answer()
    await expect(answers[1]).rejects.toThrow(LimiterError)
    expect(await Promise.all([outcome(answers[0] as Promise<unknown>), outcome(answers[2] as Promise<unknown>)])).toEqual([
      'allowed',
      'allowed',
    ])
  })

  it('leaves groups that were not decided undecided, and the others as they are', async () => {
    const { ask, answerAll } = bench({}, (clock) => memoryStore({ clock, maxKeys: 1 }))
    const answers = [ask('a'), ask('b'), ask('a')]
    await answerAll()
    expect(await Promise.all(answers.map(outcome))).toEqual(['allowed', 'undecided', 'allowed'])
  })

  it("does not join calls at a time of the caller's choosing", async () => {
    const { store, ask, sent, answerAll } = bench()
    const answers = [ask('a'), store.consume([group('b')], { now: 1 }), store.consume([])]
    await settle()
    expect(sent()).toEqual([['consume', 'b'], ['consume'], ['consume', 'a']])
    await answerAll()
    await Promise.all(answers)
  })

  it('joins requests for leases too', async () => {
    const { store, sent, answerAll } = bench({}, leasingStore)
    const request = (key: string) => ({ call: call(key), want: 2_000_000, holder: 1, sequence: 1, life: 1_000_000, kept: 0, returned: 0 })
    const lease = store.lease as NonNullable<Store['lease']>
    const answers = [lease([request('a')]), lease([request('b'), request('c')])]
    await settle()
    expect(sent()).toEqual([['lease', 'a', 'b', 'c']])
    await answerAll()
    expect((await Promise.all(answers)).map((each) => each.map(({ granted }) => granted))).toEqual([[2_000_000], [2_000_000, 2_000_000]])
  })

  it('joins what lies in one slot, where groups are atomic in one slot only', async () => {
    const { store, sent, answerAll } = bench({}, (clock) => ({
      ...memoryStore({ clock }),
      capabilities: { clock: 'server', atomicBatch: 'same-slot', sync: false },
      slotOf: (ids) => {
        const slots = new Set(ids.map(({ key }) => key.charCodeAt(0)))
        return slots.size === 1 ? [...slots][0] : undefined
      },
    }))
    const answers = ['a1', 'b1', 'a2', 'b2'].map((key) => store.consume([group(key)]))
    const both = store.consume([group('a1', 'b1')])
    await settle()
    expect(sent()).toEqual([
      ['consume', 'a1', 'b1'],
      ['consume', 'a1', 'a2'],
      ['consume', 'b1', 'b2'],
    ])
    const reset = store.reset([call('a1').id, call('b3').id])
    await settle()
    expect(sent().slice(3)).toEqual([['reset', 'b3']])
    await answerAll()
    await Promise.all([...answers, both, reset])
  })

  it('leaves a store in this process as it is: nothing could join', () => {
    const store = memoryStore()
    expect(withCoalescing(store)).toBe(store)
  })

  it('closes when everything was answered, and refuses what comes then', async () => {
    const { store, ask, answerAll } = bench()
    const answer = ask('a')
    let closed = false
    const closing = store.close().then(() => (closed = true))
    await settle()
    expect(closed).toBe(false)
    for (const late of [ask('b'), store.peek([group('b')]), store.reset([call('b').id])]) expect(await outcome(late)).toBe('unavailable no')
    await answerAll()
    expect(await outcome(answer)).toBe('allowed')
    await closing
    expect(closed).toBe(true)
  })

  it('does not wait for ever when it is closed', async () => {
    const { store, ask, clock } = bench()
    const first = ask('a')
    await settle()
    const second = outcome(ask('b'))
    const closing = store.close()
    clock.advance(5_000)
    await closing
    expect(await second).toBe('unavailable no')
    void first
  })

  it.each([{ maxCalls: 0 }, { maxCalls: 1.5 }, { maxQueued: Number.NaN }, { batch: 1 }])('refuses %j', (options) => {
    expect(() => withCoalescing(memoryStore(), options as CoalescingOptions)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
