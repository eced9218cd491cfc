import fc from 'fast-check'
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import type { Policy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import type { ParsedArguments } from '../src/cli/verb.ts'
import type { HeldPolicy } from '../src/policy/held-policy.ts'
import { policyPlace } from '../src/policy/policy-place.ts'
import type { RelayedPolicy, ToWorker } from '../src/workers/messages.ts'
import { createPolicyOrder } from '../src/workers/shared-state.ts'
import { relayPolicies } from '../src/workers/shared-state.ts'
import { channel } from './channel.ts'

/** A policy that takes in texts one after the other, each only when `finish` is called. It refuses texts that begin with "bad". */
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

/** Several workers and their primary. The test decides when a message arrives, and when a worker has read a policy. */
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
  it.each(['policy.json', 'https://host/policy.json'])(
    'from %s: one that has expired since a worker accepted it stays in force',
    (named) => {
      const text = JSON.stringify({ bundle_version: 1, expires_at: '2026-01-31T12:00:00Z', policies: [] })
      const { resume } = policyPlace(named, { text: () => undefined, origin: () => undefined } as unknown as ParsedArguments)
      const candidate = { text, filename: 'policy.json', format: 'json' } as const
      expect(resume({ ...candidate, acceptedAt: Date.parse('2026-01-31T11:59:59Z') }).policy.dialect).toBe('bundle')
      expect(() => resume({ ...candidate, acceptedAt: Date.parse('2026-01-31T12:00:00Z') })).toThrow('the bundle has expired')
      expect(() => resume(candidate)).toThrow('the bundle has expired')
    },
  )

  it('say when the worker that accepted them began to read them, so the others check the expiry by this time', async () => {
    const sent: RelayedPolicy[] = []
    const { held, finish } = slowPolicy()
    const ignore = (): void => {}
    const { put, file, fetched } = relayPolicies(held, (policy) => void sent.push(policy), ignore)
    const before = Date.now()
    const taken = [
      put({ text: 'put', filename: 'body' }),
      file({ text: 'file', filename: 'p' }),
      fetched({ text: 'url', filename: 'u' }, false, 1),
    ]
    const begun = Date.now()
    await setTimeout(5)
    for (const policy of taken) {
      finish()
      await policy
    }
    expect(sent.map(({ text }) => text)).toEqual(['put', 'file', 'url'])
    for (const { acceptedAt } of sent) {
      expect(acceptedAt).toBeGreaterThanOrEqual(before)
      expect(acceptedAt).toBeLessThanOrEqual(begun)
    }
  })

  it('end as one, whoever is given which, whatever is refused and however long readings and messages take', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constantFrom('put' as const, 'bad' as const, 'file' as const, 'url' as const),
        worker: fc.nat(2),
        text: fc.nat(3),
      }),
      fc.record({ kind: fc.constantFrom('finish' as const, 'up' as const, 'down' as const), worker: fc.nat(2), text: fc.constant(0) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
        const { workers, toPrimary, toWorkers } = workersOf(3)
        let good = 0
        // A worker sends one request at a time. So the times of its own requests only grow.
        const times = [0, 0, 0]
        for (const [index, { kind, worker, text }] of steps.entries()) {
          const one = workers[worker] as (typeof workers)[number]
          const ignored = (taken: Promise<Policy>): void => void taken.catch(() => {})
          if (kind === 'put') ignored(one.put({ text: `put ${index} ${text}`, filename: 'body' }))
          if (kind === 'bad') ignored(one.put({ text: `bad ${index}`, filename: 'body' }))
          // The policy's file has changed. In the end, all workers will have read it.
          if (kind === 'file') for (const each of workers) ignored(each.file({ text: `file ${text}`, filename: 'policy.yaml' }))
          // Different workers send requests, so answers may arrive in another order than the requests were sent.
          if (kind === 'url') {
            times[worker]! += text
            ignored(one.fetched({ text: `url ${index}`, filename: 'https://host/p' }, false, times[worker] as number))
          }
          if (kind === 'put' || kind === 'file' || kind === 'url') good += 1
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

  it('of a URL: a new worker keeps what it fetched, which may be newer than what was relayed, unless an administrator sent one', async () => {
    const sent: RelayedPolicy[] = []
    const order = createPolicyOrder<number>([0, 1], () => {})
    const { held, finish } = slowPolicy()
    const { fetched, put } = relayPolicies(
      held,
      (policy) => void (sent.push(policy), order.add(0, policy)),
      () => {},
    )
    const loaded = async (policy: Promise<Policy>): Promise<void> => {
      await nextTurn()
      finish()
      await policy
    }
    await loaded(fetched({ text: 'p2', filename: 'https://host/p' }, false, 1))
    expect([sent.length, order.toBegin(0).policy]).toEqual([1, undefined])
    await loaded(put({ text: 'sent', filename: 'body' }))
    expect([order.toBegin(0).policy?.text, order.toBegin(0).fromPlace?.text]).toEqual(['sent', 'p2'])
  })

  it('of a place: a new worker begins with the last good one, of a URL that which was requested last', () => {
    const order = createPolicyOrder<number>([0, 1], () => {})
    const placed = (text: string, requestedAt?: number): RelayedPolicy => ({
      text,
      filename: 'p',
      fromPlace: true,
      ...(requestedAt === undefined ? {} : { requestedAt }),
    })
    const begun = (): unknown => order.toBegin(0).fromPlace?.text
    expect(begun()).toBe(undefined)
    order.serves(placed('first', 10))
    order.serves(undefined)
    expect(begun()).toBe('first')
    order.add(0, placed('new', 30))
    order.add(1, placed('old', 20))
    expect(begun()).toBe('new')
    order.add(1, { text: 'sent', filename: 'body' })
    expect(begun()).toBe('new')
    order.add(0, placed('changed file'))
    expect([begun(), order.toBegin(0).policy]).toEqual(['changed file', undefined])
  })

  it('if none is left: new workers try the policy in use and the place in turns, also two that end together', () => {
    const order = createPolicyOrder<number>([], () => {})
    const begin = (...workers: readonly number[]): unknown[] => workers.map((worker) => order.toBegin(worker).fromPlace?.text)
    const end = (...workers: readonly number[]): void => workers.forEach((worker) => order.ended(worker, true))
    order.serves({ text: 'in use', filename: 'p', fromPlace: true })
    order.ended(0, false)
    expect(begin(1, 2)).toEqual(['in use', 'in use'])
    end(1, 2)
    expect(begin(3, 4)).toEqual([undefined, undefined])
    end(3, 4)
    expect(begin(5)).toEqual(['in use'])
    end(5)
    expect(begin(6)).toEqual([undefined])
    order.serves({ text: 'mended', filename: 'p', fromPlace: true })
    expect(begin(7)).toEqual(['mended'])
  })

  it('of a URL: all keep the one that was requested later, also if the answer to an earlier request is relayed after it', async () => {
    const { workers, toPrimary, toWorkers } = workersOf(3)
    const [quick, slow] = workers as [(typeof workers)[number], (typeof workers)[number]]
    const taken = [quick.fetched({ text: 'new', filename: 'u' }, false, 20), slow.fetched({ text: 'old', filename: 'u' }, false, 10)]
    await nextTurn()
    for (const { finish } of workers) finish()
    await Promise.all(taken)
    // The primary orders the new text first.
    for (const { deliver } of toPrimary) deliver()
    for (let turn = 0; turn < 6; turn += 1) {
      for (const { deliver } of toWorkers) deliver()
      await nextTurn()
      for (const { finish } of workers) finish()
      await nextTurn()
    }
    expect(workers.map(({ text }) => text())).toEqual(['new', 'new', 'new'])
  })

  it('of a URL: a worker that began with a newer text keeps it, and takes one that an administrator sends', async () => {
    const { held, finish, text } = slowPolicy()
    const ignore = (): void => {}
    const { relayed } = relayPolicies(held, ignore, ignore, 20)
    const take = async (policy: RelayedPolicy): Promise<string> => {
      relayed(policy)
      await nextTurn()
      finish()
      await nextTurn()
      return text()
    }
    expect(await take({ text: 'old', filename: 'u', fromPlace: true, requestedAt: 10 })).toBe('first')
    expect(await take({ text: 'sent', filename: 'body' })).toBe('sent')
    expect(await take({ text: 'new', filename: 'u', fromPlace: true, requestedAt: 30 })).toBe('new')
  })

  it('of a URL: the same text is loaded once by polls, and again at each SIGHUP, for the files that it names', async () => {
    const { held, finish, idle } = slowPolicy()
    const { fetched } = relayPolicies(
      held,
      () => {},
      () => {},
    )
    let loads = 0
    for (const always of [false, false, true, true]) {
      const policy = fetched({ text: 'p2', filename: 'https://host/p' }, always, 1)
      await nextTurn()
      if (!idle()) loads += 1
      finish()
      await policy
    }
    expect(loads).toBe(3)
  })
})
