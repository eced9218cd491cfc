import { describe, expect, it } from 'vitest'
import { createRemoteCalls, type RemoteCalls } from '../../src/stores/remote-calls.ts'
import { type CallOptions, StoreFailure } from '../../src/stores/store.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

interface Sent {
  answer(value: string): void
  fail(error: unknown): void
}

/** A client whose answers the test sends itself. */
function byHand(
  maxInFlight = 2,
  maxSent?: number,
): { clock: ManualClock; calls: RemoteCalls; sent: Sent[]; invoke(options?: CallOptions): Promise<string> } {
  const clock = manualClock()
  const calls = createRemoteCalls('a store', clock, { maxInFlight, maxSent })
  const sent: Sent[] = []
  const send = (): Promise<string> => new Promise((answer, fail) => sent.push({ answer, fail }))
  const classify = (error: unknown): StoreFailure => new StoreFailure('connection', 'unknown', String(error))
  return { clock, calls, sent, invoke: (options) => calls.run(send, options, classify) }
}

/** What a promise is rejected with, watched from now on. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Waits until everybody who waits for an already settled promise has been called. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function failure(kind: string, executed: string): unknown {
  return expect.objectContaining({ name: 'StoreFailure', kind, executed })
}

describe('remote calls', () => {
  it('give the answer, and leave no timer behind', async () => {
    const { sent, invoke, clock } = byHand()
    const answered = invoke({ deadline: 50 })
    sent[0]?.answer('yes')
    expect(await answered).toBe('yes')
    clock.advance(1_000)
  })

  it('reject at the deadline, not before, and drop the late answer', async () => {
    const { sent, invoke, clock } = byHand()
    let settled = 0
    const late = invoke({ deadline: 50 }).finally(() => (settled += 1))
    const caught = failureOf(late)
    clock.advance(49)
    await turn()
    expect(settled).toBe(0)
    clock.advance(1)
    expect(await caught).toEqual(failure('timeout', 'unknown'))
    sent[0]?.answer('too late')
    await turn()
    expect(settled).toBe(1)
  })

  it('are not sent once their deadline has passed', async () => {
    const { sent, invoke } = byHand()
    await expect(invoke({ deadline: 0 })).rejects.toEqual(failure('timeout', 'no'))
    expect(sent).toHaveLength(0)
  })

  it('count as under way until the client lets go: beyond the bound they are refused at once, unsent', async () => {
    const { sent, invoke, clock } = byHand(2)
    const first = failureOf(invoke({ deadline: 50 }))
    const second = invoke()
    await expect(invoke()).rejects.toEqual(failure('overload', 'no'))
    clock.advance(50)
    expect(await first).toEqual(failure('timeout', 'unknown'))
    await expect(invoke()).rejects.toEqual(failure('overload', 'no'))
    expect(sent).toHaveLength(2)

    sent[0]?.answer('late, but it makes room')
    await turn()
    const third = invoke()
    sent[1]?.answer('second')
    sent[2]?.answer('third')
    expect(await Promise.all([second, third])).toEqual(['second', 'third'])
  })

  it('make room for one each, also when they fail, late or not', async () => {
    const { sent, invoke, clock } = byHand(1)
    for (let round = 0; round < 5; round += 1) {
      const soon = failureOf(invoke())
      sent.at(-1)?.fail('reset')
      expect(await soon).toEqual(failure('connection', 'unknown'))
      const late = failureOf(invoke({ deadline: clock.monotonic() + 10 }))
      clock.advance(10)
      expect(await late).toEqual(failure('timeout', 'unknown'))
      sent.at(-1)?.fail('reset, and nobody listens')
      await turn()
    }
    const last = invoke()
    await expect(invoke()).rejects.toEqual(failure('overload', 'no'))
    sent.at(-1)?.answer('still here')
    expect(await last).toBe('still here')
  })

  it('aborted before they are sent were not executed; after, nobody knows', async () => {
    const { sent, invoke } = byHand()
    await expect(invoke({ signal: AbortSignal.abort() })).rejects.toEqual(failure('aborted', 'no'))
    expect(sent).toHaveLength(0)
    const controller = new AbortController()
    const left = failureOf(invoke({ signal: controller.signal, deadline: 50 }))
    controller.abort()
    expect(await left).toEqual(failure('aborted', 'unknown'))
    sent[0]?.answer('nobody is there')
  })

  it('listen to a signal no longer than they last', async () => {
    const { sent, invoke } = byHand()
    const controller = new AbortController()
    let listening = 0
    const { signal } = controller
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listening += 1
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listening -= 1
      remove(...args)
    }
    const answered = invoke({ signal })
    expect(listening).toBe(1)
    sent[0]?.answer('yes')
    await answered
    expect(listening).toBe(0)
    controller.abort()
  })

  it('take a client that throws for one that rejects, and pass a StoreFailure on as it is', async () => {
    const { calls } = byHand()
    const classify = (error: unknown): StoreFailure => new StoreFailure('connection', 'no', String(error))
    const throws = (): never => {
      throw new Error('no socket')
    }
    await expect(calls.run(throws, undefined, classify)).rejects.toEqual(failure('connection', 'no'))
    const own = new StoreFailure('contention', 'no', 'gave up')
    await expect(calls.run(() => Promise.reject(own), undefined, classify)).rejects.toBe(own)
  })

  it('wait for a connection in order, and are never sent once they are given up', async () => {
    const { sent, invoke, clock } = byHand(10, 2)
    const [first, second] = [invoke(), invoke()]
    const late = failureOf(invoke({ deadline: 50 }))
    const controller = new AbortController()
    const left = failureOf(invoke({ signal: controller.signal }))
    const [third, fourth] = [invoke({ deadline: 100 }), invoke()]
    expect(sent).toHaveLength(2)
    clock.advance(50)
    controller.abort()
    expect(await late).toEqual(failure('timeout', 'no'))
    expect(await left).toEqual(failure('aborted', 'no'))

    sent[1]?.answer('second')
    await turn()
    expect(sent).toHaveLength(3)
    sent[2]?.answer('third')
    sent[0]?.fail('reset')
    expect(await failureOf(first)).toEqual(failure('connection', 'unknown'))
    await turn()
    sent[3]?.answer('fourth')
    expect(await Promise.all([second, third, fourth])).toEqual(['second', 'third', 'fourth'])
    expect(sent).toHaveLength(4)
  })

  it('that were sent and given up keep their connection; those that waited make room at once', async () => {
    const { sent, invoke, clock } = byHand(2, 1)
    const stuck = failureOf(invoke({ deadline: 10 }))
    for (let round = 0; round < 5; round += 1) {
      const waited = failureOf(invoke({ deadline: clock.monotonic() + 10 }))
      expect(await failureOf(invoke())).toEqual(failure('overload', 'no'))
      clock.advance(10)
      expect(await waited).toEqual(failure('timeout', 'no'))
    }
    expect(await stuck).toEqual(failure('timeout', 'unknown'))
    expect(sent).toHaveLength(1)
    const next = invoke()
    sent[0]?.answer('at last')
    await turn()
    sent[1]?.answer('and on')
    expect(await next).toBe('and on')
  })
})
