import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { memoryStore, tokenBucket } from '../../src/index.ts'
import type { Ledger } from '../../src/regions/ledger.ts'
import type { RegionalLimit } from '../../src/regions/rights/limit.ts'
import { createHeldKeys } from '../../src/regions/replicator/held-keys.ts'
import { createMeter } from '../../src/regions/replicator/meter.ts'
import { createNeeds } from '../../src/regions/replicator/needs.ts'
import { ownNeeds } from '../../src/regions/replicator/region-needs.ts'
import { regionalStore } from '../../src/regions.ts'
import { nameOf } from '../../src/stores/store.ts'
import { meteringOf } from '../../src/regions/regional-store.ts'

const limit = tokenBucket({ rate: '10/s', burst: 10 })
const callOf = (key: string) => ({ id: { scope: { text: 'api:default:tb:' }, key }, limit, cost: 9 * MICRO, phase: 0 })

/** A region that holds no units, and counts what its callers attempt of each key. */
function region() {
  let now = 0
  const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' })
  const { ledger, limits } = meteringOf('test', store)
  const meter = createMeter(
    100,
    (one) => limits.bucketOf(one),
    () => now,
  )
  const roll = (times: number): void => {
    for (let round = 0; round < times; round += 1) {
      now += 500
      meter.roll()
    }
  }
  const attempt = (key: string): void => {
    const group = { calls: [callOf(key)] }
    const verdict = store.decideNow?.(group)
    if (verdict !== undefined) meter.count(group, verdict)
  }
  return { ledger, limits, meter, roll, attempt }
}

describe('regions R7: needs', () => {
  it('are taken back when a key is counted no more, until every peer has read that', async () => {
    const { ledger, meter, roll, attempt } = region()
    const needs = createNeeds(createHeldKeys(ledger, 100), meter, ownNeeds, 'one')
    attempt('k')
    roll(1)
    await needs.publish()
    const first = needs.since('us', undefined)
    expect(first.needs).toMatchObject([{ key: 'k', need: 1000 }])
    roll(62)
    expect([...meter.keys()]).toEqual([])
    for (let round = 0; round < 3; round += 1) await needs.publish()
    const second = needs.since('us', first.needsAt)
    expect(second.needs).toMatchObject([{ key: 'k', need: 0 }])
    expect(needs.since('us', second.needsAt).needs).toEqual([])
    await needs.publish()
    expect(needs.since('us', undefined).needs).toEqual([])
  })

  it('read what is held of a key on a server again only after its rows have changed', async () => {
    const { ledger, meter, roll, attempt } = region()
    const read: string[] = []
    let changed: string[] | undefined = []
    // A ledger over a memory store that acts as if the store were on a server: it notes which keys are read, and has `changedKeys`.
    const counted: Ledger = Object.assign(Object.create(ledger) as Ledger, {
      held: (id: { readonly key: string }, bucket: never) => {
        read.push(id.key)
        return ledger.held(id as never, bucket)
      },
      changedKeys: async () => ({ names: changed, cursor: 1 }),
    })
    const needs = createNeeds(createHeldKeys(counted, 100), meter, ownNeeds, 'one')
    const publish = async (): Promise<readonly string[]> => {
      read.length = 0
      roll(1)
      await needs.publish()
      return [...read].sort()
    }
    for (const key of ['a', 'b', 'c']) attempt(key)
    expect(await publish()).toEqual(['a', 'b', 'c'])
    expect(await publish()).toEqual([])
    changed = [nameOf(callOf('b').id)]
    expect(await publish()).toEqual(['b'])
    changed = undefined
    expect(await publish()).toEqual(['a', 'b', 'c'])
    changed = []
    ledger.update((one) => ({ ...one }))
    expect(await publish()).toEqual(['a', 'b', 'c'])
  })

  it.each(['refresh', 'forget'] as const)('keep nothing that was read before a change for which `%s` dropped the key', async (drop) => {
    const { ledger, limits } = region()
    const { id } = callOf('k')
    const bucket = limits.bucketOf(limit) as RegionalLimit
    let change = 'first'
    let reply = (): void => {}
    const slow: Ledger = Object.assign(Object.create(ledger) as Ledger, {
      held: async (...key: Parameters<Ledger['held']>) => {
        const found = { ...(await ledger.held(...key)), change }
        await new Promise<void>((resolve) => (reply = resolve))
        return found
      },
      changedKeys: async () => ({ names: [nameOf(id)], cursor: 1 }),
    })
    const keys = createHeldKeys(slow, 100)
    await keys.refresh()
    const read = async (meanwhile: () => unknown): Promise<string> => {
      const reading = Promise.resolve(keys.of(id, bucket))
      await setImmediate()
      await meanwhile()
      reply()
      return (await reading).change
    }
    const changed = (): unknown => {
      change = 'second'
      return drop === 'refresh' ? keys.refresh() : keys.forget(id)
    }
    expect(await read(changed)).toBe('first')
    expect(await read(() => {})).toBe('second')
    change = 'third'
    expect(await read(() => {})).toBe('second')
  })
})
