import { describe, expect, it } from 'vitest'
import { LimiterError } from '../../../src/errors/limiter-error.ts'
import { type GroupVerdict, StoreFailure } from '../../../src/stores/store.ts'
import { type HeldCall, settle } from './held-store.ts'
import { group, groups, keys, ringBench } from './ring-bench.ts'

const contended: GroupVerdict = { failure: new StoreFailure('contention', 'no', 'the row is locked') }
const allowed: GroupVerdict = { outcome: 'allowed', at: 1, calls: [] }

/** Answers as a store would whose rows `locked` are locked. */
async function answer(held: HeldCall | undefined, ...locked: readonly string[]): Promise<void> {
  expect(held?.options).toMatchObject({ onContention: 'fail' })
  await held?.answerWith(held.keys.map((key) => (locked.includes(key) ? contended : allowed)))
}

const patient = { deadline: 10_000 }

describe('R9, R12: a contended state', () => {
  it('goes alone, waiting for its lock, while the others of its batch are answered at once', async () => {
    const { ask, calls, sent } = ringBench()
    const all = ['a', 'locked', 'b'].map((key) => ask(key, patient))
    const list = ask(['c', 'locked', 'd'], patient)
    await settle()
    await answer(calls.shift(), 'locked')
    expect(all.map(({ outcomes }) => outcomes)).toEqual([['allowed'], 'waits', ['allowed']])
    expect(sent()).toEqual([['locked', 'locked']])
    expect(calls[0]?.options).toEqual({ deadline: 10_000 })
    await calls.shift()?.answer()
    expect(all[1]?.outcomes).toEqual(['allowed'])
    expect(list.outcomes).toEqual(['allowed', 'allowed', 'allowed'])
  })

  it('has one batch in flight at a time for the next second, and other keys are unaffected', async () => {
    const { ask, calls, sent, pass } = ringBench()
    ask('locked', patient)
    await settle()
    await answer(calls.shift(), 'locked')
    const waiting = keys('w', 40).map(() => ask('locked', patient))
    const others = keys('k', 20).map((key) => ask(key, patient))
    const list = ask(['x', 'locked', 'y', 'locked'], patient)
    await pass(5)
    expect(sent()).toEqual([['locked'], [...keys('k', 20), 'x', 'y']])
    await answer(calls.pop())
    expect(others.map(({ outcomes }) => outcomes)).toEqual(others.map(() => ['allowed']))
    expect([waiting[0]?.outcomes, list.outcomes]).toEqual(['waits', 'waits'])
    await calls.shift()?.answer()
    expect(sent()).toEqual([Array(42).fill('locked')])
    expect(calls[0]?.options).not.toHaveProperty('onContention')
    await calls.shift()?.answerWith(Array.from({ length: 42 }, () => allowed))
    expect(waiting.map(({ outcomes }) => outcomes)).toEqual(waiting.map(() => ['allowed']))
    expect(list.outcomes).toEqual(Array(4).fill('allowed'))
  })

  it('is sent with others again after a second without contention', async () => {
    const { ask, calls, sent, pass } = ringBench()
    ask('locked', patient)
    await settle()
    await answer(calls.shift(), 'locked')
    await calls.shift()?.answer()
    await pass(990)
    ask('locked', patient)
    ask('a', patient)
    await settle()
    expect(sent()).toEqual(expect.arrayContaining([['a'], ['locked']]))
    expect(calls).toHaveLength(2)
    for (const held of calls.splice(0)) await held.answer()
    await pass(20)
    ask('locked', patient)
    ask('a', patient)
    await settle()
    expect(sent()).toEqual([['locked', 'a']])
    await answer(calls.shift())
  })

  it('keeps a list a list: it takes turns with single calls as before', async () => {
    const { ask, calls, pass } = ringBench()
    ask('locked', patient)
    await settle()
    await answer(calls.shift(), 'locked')
    await calls.shift()?.answer()
    const list = ask(keys('l', 1_000), patient)
    await pass(3)
    expect(calls).toHaveLength(2)
    const single = ask('single', patient)
    await answer(calls.shift())
    expect(calls.at(-1)?.keys).toContain('single')
    while (calls.length > 0) await answer(calls.shift())
    expect(single.outcomes).toEqual(['allowed'])
    expect(list.outcomes).toEqual(Array(1_000).fill('allowed'))
  })

  it('holds up the groups that share it, and only those', async () => {
    const { ring, ask, calls, sent, pass } = ringBench()
    const both = ring.decide([group('locked', 'b')], patient)
    await settle()
    await calls.shift()?.answerWith([contended])
    // Either of its states may be the locked one.
    const shares = [ask('locked', patient), ask('b', patient)]
    ask('c', patient)
    await pass(5)
    expect(sent()).toEqual([['locked', 'b'], ['c']])
    await calls.shift()?.answerWith([allowed])
    expect(await both).toEqual([allowed])
    expect(sent()).toEqual([['c'], ['locked', 'b']])
    await calls.pop()?.answerWith([allowed, allowed])
    expect(shares.map(({ outcomes }) => outcomes)).toEqual([['allowed'], ['allowed']])
  })

  it('is answered by the deadline of its caller, and its batches in flight are dropped', async () => {
    const { ask, calls, pass } = ringBench({ breaker: { failures: 1 } })
    const first = ask('locked', { deadline: 20 })
    await settle()
    await answer(calls.shift(), 'locked')
    const waiting = ask('locked', { deadline: 30 })
    await pass(40)
    expect([first, waiting].map(({ outcomes, answeredAt }) => [outcomes, answeredAt])).toEqual([
      [['timeout unknown'], 21],
      // The batch before it was dropped, and it was sent.
      [['timeout unknown'], 31],
    ])
    const next = ask('locked', { deadline: 60 })
    await settle()
    await calls.at(-1)?.answer()
    expect(next.outcomes).toEqual(['allowed'])
  })

  it("never opens the breaker: neither does a holder's lock that lasts longer than deadlines", async () => {
    const { ring, ask, calls, clock, pass } = ringBench({ breaker: { failures: 1 } })
    ask('locked', { deadline: 20 })
    await settle()
    await answer(calls.shift(), 'locked')
    for (let turn = 0; turn < 5; turn += 1) {
      await calls.shift()?.fail(new StoreFailure('timeout', 'unknown', 'no answer by the deadline'))
      const late = ask('locked', { deadline: clock.monotonic() + 20 })
      await pass(22)
      expect(late.outcomes).toEqual(['timeout unknown'])
    }
    expect(ring.breakerState).toBe('closed')
  })

  it('that was aborted is not answered twice', async () => {
    const { ask, calls } = ringBench()
    const leaving = new AbortController()
    const one = ask('locked', { ...patient, signal: leaving.signal })
    await settle()
    await answer(calls.shift(), 'locked')
    leaving.abort()
    await settle()
    expect(one.outcomes).toEqual(['aborted unknown'])
    await calls.shift()?.answer()
    expect(one.outcomes).toEqual(['aborted unknown'])
  })

  it('that was aborted while it waited to be sent again was not executed', async () => {
    const { ask, calls } = ringBench()
    const leaving = new AbortController()
    ask('locked', patient)
    await settle()
    await answer(calls.shift(), 'locked')
    const list = ask(['a', 'locked'], { ...patient, signal: leaving.signal })
    await settle()
    await answer(calls.pop())
    leaving.abort()
    await settle()
    expect(list.outcomes).toEqual(['allowed', 'aborted no'])
  })

  it('whose outcome is unknown is not sent again', async () => {
    const { ask, calls } = ringBench()
    const one = ask('k', patient)
    await settle()
    await calls.shift()?.answerWith([{ failure: new StoreFailure('contention', 'unknown', 'gave up') }])
    expect([one.outcomes, calls]).toEqual([['contention unknown'], []])
  })

  it.each([new LimiterError('INVALID_OPTIONS', 'theirs'), new TypeError('theirs')])(
    'that meets a defect when it is sent again rejects the call: %s',
    async (defect) => {
      const { ring, ask, calls } = ringBench()
      const list = ring.decide(groups(['a', 'locked']), patient)
      await settle()
      await answer(calls.shift(), 'locked')
      await calls.shift()?.fail(defect)
      await expect(list).rejects.toBe(defect)
      const next = ask('locked', patient)
      await settle()
      await calls.shift()?.answer()
      expect(next.outcomes).toEqual(['allowed'])
    },
  )
})
