import fc from 'fast-check'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Policy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import type { HeldPolicy } from '../src/policy/held-policy.ts'
import type { RelayedPolicy, ToWorker } from '../src/workers/messages.ts'
import { createPolicyOrder } from '../src/workers/shared-state.ts'
import { relayPolicies } from '../src/workers/shared-state.ts'

/** Messages that arrive in order, whenever `deliver` is called. */
function channel<M>(receive: (message: M) => void): { send: (message: M) => void; deliver: () => boolean } {
  const messages: M[] = []
  return {
    send: (message) => void messages.push(message),
    deliver() {
      const message = messages.shift()
      if (message === undefined) return false
      receive(message)
      return true
    },
  }
}

/** Takes texts in one after the other, each when `finish` is called; those that begin with "bad" are refused. */
function slowPolicy() {
  const waiting: (() => void)[] = []
  let text = 'first'
  let before: Promise<unknown> = Promise.resolve()
  const take = async (candidate: string): Promise<Policy> => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    if (candidate.startsWith('bad')) throw new Error(candidate)
    text = candidate
    return { hash: candidate } as Policy
  }
  const held: HeldPolicy = {
    current: { hash: 'first' } as Policy,
    rejected: 0,
    loaded: 1,
    replace(candidate) {
      const taken = before.then(() => take(candidate.text as string))
      before = taken.catch(() => undefined)
      return taken
    },
  }
  return { held, finish: () => waiting.shift()?.(), text: () => text, idle: () => waiting.length === 0 }
}

/** Several workers and their primary, whose messages and readings take as long as the test wants. */
function workersOf(count: number) {
  const toPrimary: ReturnType<typeof channel<RelayedPolicy>>[] = []
  const toWorkers: ReturnType<typeof channel<ToWorker>>[] = []
  const numbers = Array.from({ length: count }, (_, index) => index)
  const order = createPolicyOrder(numbers, (worker, message) => toWorkers[worker]?.send(message))
  const workers = numbers.map((index) => {
    const slow = slowPolicy()
    toPrimary.push(channel((policy) => order.add(index, policy)))
    const relayed = relayPolicies(
      slow.held,
      (policy) => toPrimary[index]?.send(policy),
      () => {},
    )
    toWorkers.push(
      channel((message) => {
        if (message.kind === 'policy') relayed.relayed(message.policy)
        if (message.kind === 'ordered') relayed.ordered()
      }),
    )
    return { ...slow, ...relayed }
  })
  return { workers, toPrimary, toWorkers }
}

describe('policies of several workers', () => {
  it('end as one, whoever is given which, whatever is refused and however long readings and messages take', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('put' as const, 'bad' as const, 'file' as const), worker: fc.nat(2), text: fc.nat(3) }),
      fc.record({ kind: fc.constantFrom('finish' as const, 'up' as const, 'down' as const), worker: fc.nat(2), text: fc.constant(0) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
        const { workers, toPrimary, toWorkers } = workersOf(3)
        let good = 0
        for (const [index, { kind, worker, text }] of steps.entries()) {
          const one = workers[worker] as (typeof workers)[number]
          const ignored = (taken: Promise<Policy>): void => void taken.catch(() => {})
          if (kind === 'put') ignored(one.put({ text: `put ${index} ${text}`, filename: 'body' }))
          if (kind === 'bad') ignored(one.put({ text: `bad ${index}`, filename: 'body' }))
          // The file changed, and all workers will have read it in the end.
          if (kind === 'file') for (const each of workers) ignored(each.file({ text: `file ${text}`, filename: 'policy.yaml' }))
          if (kind === 'put' || kind === 'file') good += 1
          if (kind === 'finish') one.finish()
          if (kind === 'up') toPrimary[worker]?.deliver()
          if (kind === 'down') toWorkers[worker]?.deliver()
          await nextTurn()
        }
        for (let quiet = 0; quiet < 3;) {
          const moved = [...toPrimary, ...toWorkers].map(({ deliver }) => deliver())
          const finished = workers.map((one) => (one.idle() ? false : (one.finish(), true)))
          await nextTurn()
          quiet = [...moved, ...finished].includes(true) ? 0 : quiet + 1
        }
        const texts = new Set(workers.map((one) => one.text()))
        expect(texts.size).toBe(1)
        if (good > 0) expect(texts).not.toContain('first')
      }),
      { numRuns: 300 },
    )
  })

  it('two that are put at once, at two workers, end as one', async () => {
    const { workers, toPrimary, toWorkers } = workersOf(2)
    const puts = workers.map(({ put }, index) => put({ text: `put ${index}`, filename: 'body' }))
    await nextTurn()
    for (const { finish } of workers) finish()
    await Promise.all(puts)
    for (const { deliver } of toPrimary) deliver()
    for (let turn = 0; turn < 4; turn += 1) {
      for (const { deliver } of toWorkers) deliver()
      await nextTurn()
      for (const { finish } of workers) finish()
      await nextTurn()
    }
    expect(workers.map(({ text }) => text())).toEqual(['put 1', 'put 1'])
  })
})
