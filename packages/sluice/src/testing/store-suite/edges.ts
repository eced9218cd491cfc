import { describe, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Call } from '../../stores/store.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import { LIMITS, TENS } from '../limits.ts'
import { seeded } from '../random.ts'
import { type Bench, START } from './bench.ts'

/**
 * At the instants at which a state changes by itself, and a microsecond before and after. Finds programs that compare with `<` instead of
 * `<=`.
 */
export function edgesOf(bench: Bench): void {
  const { tags } = bench
  describe('at the instants at which a state changes by itself', () => {
    it.each(tags)(
      'X7: %s decides, gives back and takes as the kernel does, under the same limit and a changed one',
      async (tag) => {
        const random = seeded(tags.indexOf(tag))
        // A short test is for a wrapper around a store, whose work does not depend on the limit.
        const limits = bench.short ? [TENS[tag]] : LIMITS.filter(({ algorithm }) => algorithm.tag === tag)
        for (const limit of limits) {
          const other = limits[Math.floor(random() * limits.length)] as AnyLimit
          const next = random() < 0.5 ? limit : other
          for (const way of waysOf(bench, random)) await aroundEdges(bench, [limit, next], way, random)
        }
      },
      60_000,
    )
  })
}

type Way = (call: Call, at: Micros) => Promise<unknown>

function waysOf(bench: Bench, random: () => number): readonly Way[] {
  const decide: Way = (call, at) => bench.decide([call], at)
  const list: Way = (call, at) => {
    const others = bench.call(bench.fresh(), call.limit)
    return bench.list([{ calls: [call] }, { calls: [{ ...call, id: others.id, phase: others.phase }] }], at)
  }
  const adjust: Way = (call, at) => {
    const window = call.limit.windowMs * MICROS_PER_MS
    const begun = Math.floor(at / window) * window
    const receipt = [undefined, 0, START, begun, begun - window][Math.floor(random() * 5)]
    return bench.adjust(call, (random() < 0.5 ? call.cost : -call.cost) / MICRO, at, receipt)
  }
  return bench.can('adjust') ? [decide, list, adjust] : [decide, list]
}

async function aroundEdges(bench: Bench, [limit, next]: readonly [AnyLimit, AnyLimit], way: Way, random: () => number) {
  for (const index of [0, 1, 2]) {
    for (const offset of [-1, 0, 1]) {
      const key = bench.fresh()
      const [view] = (await bench.decide([callOf(bench, key, limit, random)], START)).calls
      const { resetAfter = 0, replenishAfter = 0 } = view ?? {}
      const edge = [resetAfter, replenishAfter, resetAfter - limit.windowMs * MICROS_PER_MS][index] as Micros
      const call = callOf(bench, key, next, random)
      await way(call, START + Math.max(1, edge + offset))
      await bench.sameState(call.id)
    }
  }
}

function callOf(bench: Bench, key: string, limit: AnyLimit, random: () => number): Call {
  const cost = random() < 0.2 ? 1 : Math.max(1, Math.round(limit.capacity * MICRO * random() ** 2))
  return { ...bench.call(key, limit), cost }
}
