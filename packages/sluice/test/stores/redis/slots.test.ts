import { describe, expect, it } from 'vitest'
import { fixedWindow, memoryStore, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { seeded } from '../../../src/testing/random.ts'
import { bySlot } from '../../../src/stores/redis/slots.ts'
import { type Call, type GroupVerdict, type StateId, type Store, StoreFailure } from '../../../src/stores/store.ts'

const START = 1_763_692_800_000_000
const SCOPE = { text: 'slots:' }
const MICRO = 1_000_000
/** The slot of a key is its first letter. */
const slotOf = ({ key }: StateId): number => key.charCodeAt(0)
const ten = tokenBucket({ rate: '10/s', burst: 10 })
const hundred = tokenBucket({ rate: '1/s', burst: 100 })
const five = tokenBucket({ rate: '5/s', burst: 5 })

interface Sent {
  readonly verb: string
  readonly keys: readonly string[]
}

/** A store that refuses groups over several slots, as a server would, and writes down what it was asked. */
function nodes(failing: ReadonlySet<string> = new Set()): { store: Store; inner: Store; sent: Sent[] } {
  const memory = memoryStore()
  const sent: Sent[] = []
  const note = (verb: string, calls: readonly Pick<Call, 'id'>[]): void => {
    const keys = calls.map(({ id }) => id.key)
    sent.push({ verb, keys })
    const slots = new Set(keys.map((key) => key[0]))
    if (verb === 'adjust' || verb === 'reset' || verb === 'block') expect(slots.size).toBe(1)
    for (const slot of slots) if (failing.has(`${verb}:${slot}`)) throw new StoreFailure('timeout', 'no', `${verb} at ${slot}`)
  }
  const inner: Store = {
    ...memory,
    consume: async (groups, options) => {
      for (const { calls } of groups) expect(new Set(calls.map(({ id }) => id.key[0])).size).toBe(1)
      note(
        'consume',
        groups.flatMap(({ calls }) => calls),
      )
      return memory.consume(groups, options)
    },
    adjust: async (calls, amounts, options) => {
      note('adjust', calls)
      return memory.adjust?.(calls, amounts, options)
    },
    reset: async (ids, options) => {
      note(
        'reset',
        ids.map((id) => ({ id })),
      )
      return memory.reset(ids, options)
    },
    block: async (ids, duration, options) => {
      note(
        'block',
        ids.map((id) => ({ id })),
      )
      return memory.block?.(ids, duration, options)
    },
  }
  return { store: bySlot(inner, slotOf), inner: memory, sent }
}

function call(key: string, limit: AnyLimit = ten, cost = 1): Call {
  return { id: { scope: SCOPE, key }, limit, cost: cost * MICRO, phase: 0 }
}

async function left(store: Store, key: string, limit: AnyLimit = ten, now = START): Promise<number | undefined> {
  const [verdict] = await store.peek([{ calls: [call(key, limit)] }], { now })
  return verdict?.calls[0]?.remaining
}

describe('a store by slots', () => {
  it('says that only groups of one slot are one call', () => {
    expect(nodes().store.capabilities.atomicBatch).toBe('same-slot')
  })

  it('sends groups of one slot together, and slots at the same time', async () => {
    const { store, sent } = nodes()
    const groups = ['a1', 'b1', 'a2', 'b2', 'a1'].map((key) => ({ calls: [call(key), call(`${key[0]}x`)] }))
    const verdicts = await store.consume(groups, { now: START })
    expect(sent).toEqual([
      { verb: 'consume', keys: ['a1', 'ax', 'a2', 'ax', 'a1', 'ax'] },
      { verb: 'consume', keys: ['b1', 'bx', 'b2', 'bx'] },
    ])
    expect(verdicts.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([
      [9, 9],
      [9, 9],
      [9, 8],
      [9, 8],
      [8, 7],
    ])
  })

  it('asks the most restrictive slot first: the least rate per cost', async () => {
    const { store, sent } = nodes()
    await store.consume([{ calls: [call('a', ten), call('b', five), call('c', ten, 5)] }], { now: START })
    expect(sent.map(({ keys }) => keys)).toEqual([['c'], ['b'], ['a']])
  })

  it('charges all or nothing, and answers each call in its place', async () => {
    const { store } = nodes()
    const group = (cost: number) => ({ calls: [call('a', ten, cost), call('b', five), call('a2', ten), call('c', ten)] })
    const [first] = await store.consume([group(2)], { now: START })
    expect(first).toMatchObject({ outcome: 'allowed', allowed: true, at: START, source: 'store' })
    expect(first?.calls.map(({ remaining }) => remaining)).toEqual([8, 4, 9, 9])
    const [second] = await store.consume([{ calls: [call('b', five, 4), call('a', ten, 9), call('c', ten)] }], { now: START })
    expect(second).toMatchObject({ outcome: 'denied', allowed: false })
    // Nobody was charged, and nothing that is said counts what was not.
    expect(second?.calls.map(({ outcome, remaining, retryAfter }) => [outcome, remaining, retryAfter])).toEqual([
      ['allowed', 4, 0],
      ['denied', 8, 100_000],
      ['allowed', 9, 0],
    ])
    expect([await left(store, 'a'), await left(store, 'b', five), await left(store, 'c')]).toEqual([8, 4, 9])
  })

  it.each([
    ['token bucket', ten],
    ['fixed window', fixedWindow({ limit: 10, window: '1m' })],
    ['sliding window log', slidingWindowLog({ limit: 10, window: '1m' })],
  ])('gives back exactly what a %s was charged when a later slot denies', async (_, limit) => {
    const { store, sent } = nodes()
    await store.consume([{ calls: [call('b', five, 5), call('a', limit, 3)] }], { now: START })
    const before = await store.peek([{ calls: [call('a', limit)] }], { now: START })
    sent.length = 0
    // a is the more restrictive and is charged first; b has nothing left.
    const [verdict] = await store.consume([{ calls: [call('a', limit, 7), call('b', five, 1)] }], { now: START })
    expect(verdict?.calls.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied'])
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(['consume a', 'consume b', 'adjust a', 'consume a,a'])
    expect(await store.peek([{ calls: [call('a', limit)] }], { now: START })).toEqual(before)
  })

  it('a cost above a capacity anywhere is impossible, and nothing is kept', async () => {
    const { store } = nodes()
    const [verdict] = await store.consume([{ calls: [call('a'), call('b', five, 6), call('c')] }], { now: START })
    expect(verdict).toMatchObject({
      outcome: 'impossible',
      calls: [{ outcome: 'allowed' }, { outcome: 'impossible' }, { outcome: 'allowed' }],
    })
    expect(await left(store, 'a')).toBe(10)
  })

  it('asks for many groups over the same slots in as many calls as for one, each slot in order', async () => {
    const { store, sent } = nodes()
    const groups = ['1', '2', '3', '4'].map((user) => ({ calls: [call('all', ten, 3), call(`b${user}`, five, 3)] }))
    const verdicts = await store.consume(groups, { now: START })
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'allowed', 'denied'])
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual([
      'consume b1,b2,b3,b4',
      'consume all,all,all,all',
      'adjust b4',
      'consume b4,b4',
    ])
    expect(await left(store, 'b4', five)).toBe(5)
  })

  it('one of two groups that would fit alone passes, never both', async () => {
    const { store } = nodes()
    const groups = [{ calls: [call('a', five, 3), call('b', ten, 4)] }, { calls: [call('b', ten, 8), call('a', five, 4)] }]
    const verdicts = await store.consume(groups, { now: START })
    expect(verdicts.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(1)
    const passed = verdicts.findIndex(({ allowed }) => allowed)
    const taken = [
      [3, 4],
      [4, 8],
      [0, 0],
    ].at(passed === -1 ? 2 : passed) as [number, number]
    expect([await left(store, 'a', five), await left(store, 'b')]).toEqual([5 - taken[0], 10 - taken[1]])
  })

  it('under many callers at once, what was admitted is what was charged, in every slot', async () => {
    const { inner } = nodes()
    const random = seeded(4)
    const later = async (): Promise<void> => {
      for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve))
    }
    const slow: Store = {
      ...inner,
      consume: async (groups, options) => (await later(), inner.consume(groups, options)),
      adjust: async (...args) => (await later(), inner.adjust?.(...args)),
    }
    const store = bySlot(slow, slotOf)
    const keys = ['a', 'b', 'c', 'd']
    const taken = new Map(keys.map((key) => [key, 0]))
    const ask = async (): Promise<void> => {
      const calls = keys.filter(() => random() < 0.6).map((key) => call(key, hundred, 1 + Math.floor(random() * 5)))
      const [verdict] = await store.consume([{ calls: calls.length === 0 ? [call('a', hundred)] : calls }], { now: START })
      if (verdict === undefined || !verdict.allowed) return
      const charged = calls.length === 0 ? [call('a', hundred)] : calls
      for (const { id, cost } of charged) taken.set(id.key, (taken.get(id.key) as number) + cost / MICRO)
    }
    await Promise.all(Array.from({ length: 300 }, ask))
    for (const key of keys) {
      expect(taken.get(key)).toBeLessThanOrEqual(100)
      expect(await left(store, key, hundred)).toBe(100 - (taken.get(key) as number))
    }
    expect(Math.max(...taken.values())).toBeGreaterThan(90)
  })

  it('looks at groups as consume would answer them one after another', async () => {
    const { store } = nodes()
    const groups = [
      { calls: [call('a', ten, 6), call('b')] },
      { calls: [call('b', ten, 10), call('a', ten, 4)] },
      { calls: [call('a', ten, 4), call('c')] },
      { calls: [call('a')] },
    ]
    const looked = await store.peek(groups, { now: START })
    expect(looked.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'allowed', 'denied'])
    for (const [index, group] of groups.entries()) {
      // What is left differs: a look tells it uncharged.
      const said = ({ outcome, calls }: GroupVerdict) => [outcome, calls.map((one) => [one.outcome, one.retryAfter])]
      expect((await store.consume([group], { now: START })).map(said)).toEqual([said(looked[index] as GroupVerdict)])
    }
  })

  it('a slot that fails takes only its own groups along', async () => {
    const { store } = nodes(new Set(['consume:b']))
    const verdicts = await store.consume([{ calls: [call('a')] }, { calls: [call('b')] }, { calls: [call('c'), call('b')] }], {
      now: START,
    })
    expect(verdicts.map(({ outcome, degraded }) => `${outcome} ${degraded?.kind}`)).toEqual([
      'allowed undefined',
      'undecided timeout',
      'undecided timeout',
    ])
  })

  it('what was charged before a slot failed is given back, and the failure says that this is not sure', async () => {
    const { store, sent } = nodes(new Set(['consume:b']))
    const failed = store.consume([{ calls: [call('a', five), call('b')] }], { now: START })
    await expect(failed).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout', executed: 'unknown' })
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(['consume a', 'consume b', 'adjust a'])
    expect(await left(store, 'a', five)).toBe(5)
  })

  it('where nothing was charged, the failure is handed on as it is', async () => {
    const { store } = nodes(new Set(['consume:a', 'consume:b']))
    await expect(store.consume([{ calls: [call('a', five), call('b')] }], { now: START })).rejects.toMatchObject({ executed: 'no' })
  })

  it('a denial whose charges could not be given back is a failure, not a denial', async () => {
    const { store } = nodes(new Set(['adjust:a']))
    await store.consume([{ calls: [call('b', ten, 10)] }], { now: START })
    const failed = store.consume([{ calls: [call('a', five), call('b')] }], { now: START })
    await expect(failed).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout' })
  })

  it('resets, blocks and adjusts slot by slot', async () => {
    const { store, sent } = nodes()
    const calls = ['a1', 'b1', 'a2'].map((key) => call(key, ten, 4))
    await store.consume([{ calls }], { now: START })
    sent.length = 0
    await store.adjust?.(calls, [MICRO, 2 * MICRO, -MICRO], { now: START })
    expect([await left(store, 'a1'), await left(store, 'b1'), await left(store, 'a2')]).toEqual([7, 8, 5])
    await store.block?.(
      calls.map(({ id }) => id),
      1_000,
      { now: START },
    )
    const [blocked] = await store.peek([{ calls: [call('b1')] }], { now: START })
    expect(blocked?.calls[0]).toMatchObject({ blocked: true })
    await store.reset(calls.map(({ id }) => id))
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(
      'adjust a1,a2; adjust b1; block a1,a2; block b1; reset a1,a2; reset b1'.split('; '),
    )
  })
})
