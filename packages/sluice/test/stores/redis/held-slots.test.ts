import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { createStoreCaller } from '../../../src/limiter/call-store.ts'
import { chargeOnce } from '../../../src/limiter/held-group.ts'
import { bySlot } from '../../../src/stores/redis/slots.ts'
import { changedState, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { call, five, left, slotOf, START, ten } from './slot-nodes.ts'

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
}

/** Holds a call of a store back: before the server gets the call, or before the caller gets the answer. */
interface Gate {
  readonly at: 'before' | 'after'
  readonly opened: Promise<unknown>
  /** Lets it go on, or lets it fail. */
  readonly open: (failure?: StoreFailure) => void
}

/** A store with two Cluster slots, a and b. A test can hold its calls back. */
function gated() {
  const clock = manualClock(START)
  const inner = memoryStore({ clock })
  const gates = new Map<string, Gate[]>()
  const next = (name: string, at: Gate['at']): Gate => {
    let open: Gate['open'] = () => {}
    const opened = new Promise((resolve, reject) => (open = (failure) => (failure === undefined ? resolve(undefined) : reject(failure))))
    const gate = { at, opened, open }
    gates.set(name, [...(gates.get(name) ?? []), gate])
    return gate
  }
  const through = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const gate = gates.get(name)?.shift()
    if (gate?.at === 'before') await gate.opened
    const answer = await work()
    if (gate?.at === 'after') await gate.opened
    return answer
  }
  const { decideNow: _, ...rest } = inner
  const far: Store = {
    ...rest,
    capabilities: { ...inner.capabilities, sync: false },
    decide: (groups, options) => through(`decide ${groups[0]?.calls[0]?.id.key ?? ''}`, () => inner.decide(groups, options)),
    change: (changes, options) =>
      through(`change ${changes.map((change) => changedState(change).key)[0]}`, () => inner.change(changes, options)),
  }
  const deciders = { main: createStoreCaller(bySlot(far, slotOf), clock), local: undefined }
  const calls = [call('a', five, 3), call('b', ten, 3)]
  const reserve = async (): Promise<string> => {
    const hold = { limiter: 'l', id: 'order 7', micros: 60_000_000, final: false }
    return (await chargeOnce('test', deciders, calls, hold, 'deny', {})).resolved.outcome
  }
  const both = async (): Promise<readonly unknown[]> => [await left(inner, 'a', five), await left(inner, 'b', ten)]
  return { both, inner, next, reserve }
}

describe('a reservation over two slots of a Cluster that is repeated while it is on its way', () => {
  it('stays charged if its second slot does not answer: a repeat may have been allowed by what it charged', async () => {
    const { both, next, reserve } = gated()
    const second = next('decide b', 'before')
    const first = reserve()
    await settle()
    expect(await reserve()).toBe('allowed')
    second.open(new StoreFailure('timeout', 'unknown', 'lost'))
    expect(await first).toBe('undecided')
    await settle()
    expect(await both()).toEqual([2, 7])
  })

  it('stays charged in one slot if the other does not answer, until a repeat charges that one, too', async () => {
    const { both, next, reserve } = gated()
    next('decide b', 'before').open(new StoreFailure('timeout', 'unknown', 'lost'))
    expect(await reserve()).toBe('undecided')
    await settle()
    expect(await both()).toEqual([2, 10])
    expect([await reserve(), await reserve()]).toEqual(['allowed', 'allowed'])
    expect(await both()).toEqual([2, 7])
  })

  it('pays again for a slot whose charge was given back meanwhile', async () => {
    const { both, inner, next, reserve } = gated()
    const change = { kind: 'adjust', call: call('b', ten), amount: -10_000_000 } as const
    const [denied, givenBack] = [next('decide b', 'after'), next('change a', 'before')]
    await inner.change([change], {})
    const first = reserve()
    await settle()
    // Now the first reservation learns that Cluster slot b denies it. Its charge in slot a is not given back yet.
    denied.open()
    await settle()
    await inner.change([{ ...change, amount: 10_000_000 }], {})
    const charged = next('decide b', 'after')
    const repeat = reserve()
    await settle()
    givenBack.open()
    await settle()
    charged.open()
    expect([await repeat, await both()]).toEqual(['allowed', [2, 7]])
    await first
    expect(await both()).toEqual([2, 7])
  })

  it('is given back where its second slot denies it, as all that is not granted', async () => {
    const { both, inner, reserve } = gated()
    await inner.change([{ kind: 'adjust', call: call('b', ten), amount: -10_000_000 }], {})
    expect([await reserve(), await both()]).toEqual(['denied', [5, 0]])
  })
})
