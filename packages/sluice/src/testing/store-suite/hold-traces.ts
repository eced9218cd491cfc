import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { concurrency } from '../../algorithms/concurrency.ts'
import type { Call, Change } from '../../stores/store.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import { anyLimit } from '../any-limit.ts'
import { LIMITS, TENS } from '../limits.ts'
import { seeded } from '../random.ts'
import { type Bench, START } from './bench.ts'
import { heldGroup, recordOf, settlementOf } from './held.ts'

const STEPS = 40
const MINUTE: Micros = 60_000_000

/** Compares a store with the reference on random traces of holds, under limits that change during the trace. */
export function holdTracesOf(bench: Bench): void {
  const { tags } = bench
  const steps = bench.short ? STEPS / 2 : STEPS
  const offered = (): boolean => bench.store.capabilities.groupOptions?.includes('hold') === true && bench.can('settle', 'extend')

  describe.each(tags)('holds of %s in random traces', (tag) => {
    it('on limits that change: reserved, charged, refunded, settled and extended at any time', async (context) => {
      context.skip(!offered(), 'the store has no holds')
      const random = seeded(31 + tags.indexOf(tag))
      const own = LIMITS.filter(({ algorithm }) => algorithm.tag === tag)
      for (const limit of bench.short ? [TENS[tag], own[0] as AnyLimit] : own) {
        const other = own[Math.floor(random() * own.length)] as AnyLimit
        await trace(bench, [limit, limit, other], random, steps)
      }
    }, 60_000)

    it('on any limit that is accepted', async (context) => {
      context.skip(!offered(), 'the store has no holds')
      const random = seeded(97 + tags.indexOf(tag))
      for (let drawn = 0; drawn < (bench.short ? 2 : 10); drawn += 1) {
        const limits = [anyLimit(tag, random), anyLimit(tag, random)]
        await trace(bench, [limits[0] as AnyLimit, ...limits], random, steps)
      }
    }, 60_000)
  })
}

async function trace(bench: Bench, limits: readonly AnyLimit[], random: () => number, count: number): Promise<void> {
  const { call, decide, fresh, list, sameState } = bench
  const pick = (choices: number): number => Math.floor(random() * choices)
  const key = fresh()
  const open: { readonly calls: readonly Call[]; readonly id: string }[] = []
  // Some of the holds also charge this limit.
  const second = TENS[limits[0]?.algorithm.tag === 'fw' ? 'sc' : 'fw']
  const slots = concurrency({ limit: 4, holdMs: 5_000 })
  let now = START
  for (let step = 0; step < count; step += 1) {
    const limit = limits[pick(limits.length)] as AnyLimit
    now += stepOf(limit, random)
    const cost = Math.max(1, Math.floor(limit.capacity * 1_000_000 * random() ** 2))
    const one = { ...call(key, limit), cost }
    const more = [call(key, second, 1), call(key, slots, 1 + pick(2))].filter(() => pick(4) === 0)
    const calls = pick(2) === 0 ? [one, ...more] : [...more, one]
    const held = open[pick(open.length)]
    const kind = pick(10)
    if (kind < 3) {
      const id = `t${step}`
      open.push({ calls, id })
      await list([heldGroup(calls, id, 1 + pick(2 * MINUTE))], now)
      if ((await bench.options.readState(recordOf(key, id))) !== undefined) await sameState(recordOf(key, id))
    } else if (kind < 7 && held !== undefined) {
      const actual = [undefined, 0, held.calls[0]?.cost, one.cost, 3 * one.cost, 2 ** 53][pick(6)]
      // The limits may have changed since the hold.
      const settled = held.calls.map((before) => (before.id.scope === one.id.scope ? one : before))
      await bench.change([settlementOf(pick(3) === 0 ? held.calls : settled, held.id, actual)], now)
    } else if (kind === 7 && held !== undefined) {
      const change: Change = { kind: 'extend', id: recordOf(key, held.id), calls: held.calls, holder: held.id, micros: 1 + pick(MINUTE) }
      await bench.change([change], now)
    } else if (kind === 8 && bench.can('adjust')) {
      await bench.change([{ kind: 'adjust', call: one, amount: (pick(2) === 0 ? -1 : 1) * one.cost }], now)
    } else if (
      pick(3) === 0 &&
      limit.algorithm.ahead !== undefined &&
      bench.store.capabilities.groupOptions?.includes('maxWait') === true
    ) {
      await list([{ calls: [one], options: { maxWait: pick(2) * MINUTE } }], now)
    } else await decide([one], now)
    if (open.length > 6) open.shift()
    // The store may have deleted a state that is expired.
    for (const { id } of [one, call(key, slots)]) if ((await bench.options.readState(id)) !== undefined) await sameState(id)
  }
  expect(open.length).toBeGreaterThan(0)
}

function stepOf({ windowMs }: AnyLimit, random: () => number): Micros {
  const kind = random()
  if (kind < 0.3) return 0
  if (kind < 0.35) return -Math.floor(random() * 2_000_000)
  const window = Math.min(windowMs, 86_400_000) * MICROS_PER_MS
  return Math.floor(random() ** 3 * (kind < 0.9 ? window : 2.5 * window))
}
