import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { Call, CallGroup } from '../../stores/store.ts'
import { MAX_MICROS, type Micros } from '../../time/micros.ts'
import { anyLimit } from '../any-limit.ts'
import type { TimedTag } from '../limits.ts'
import { seeded } from '../random.ts'
import { type Bench, START } from './bench.ts'

const STEPS = 10
/** Shortly before 2100, up to which decisions are exact. */
const LATE: Micros = 4_102_000_000_123_457

function limitsOf({ options }: Bench): number {
  return Math.ceil(Math.min(40, (options.differentialCalls ?? 100_000) / 2_500))
}

export function rangeOf(bench: Bench): void {
  const { tags } = bench
  describe('the whole accepted range', () => {
    it.each(tags)(
      'X1: any %s decides as the kernel does: groups, lists, peeks, refunds, penalties, blocks, changes',
      async (tag) => {
        for (let made = 0; made < limitsOf(bench); made += 1) await tryLimits(tag, bench, seeded(1_000 * made + tags.indexOf(tag)))
      },
      60_000,
    )

    it('X7: what is taken from a bucket that fills in a hundred years ends before whole numbers do', async (context) => {
      context.skip(!tags.includes('tb') || !bench.can('adjust'), 'the store has no adjust, or no program for buckets')
      for (const limit of [tokenBucket({ rate: '1/36525d', burst: 1 }), tokenBucket({ rate: '3/36525d', burst: 3 })]) {
        for (const tokens of [0.000001, 0.5, 1, 2, 9]) {
          const call = bench.call(bench.fresh(), limit)
          for (const now of [LATE, LATE + 1, LATE + 1_000_000]) await bench.adjust(call, -tokens, now)
        }
      }
    })

    it('X7: a log that is charged more often than it has entries joins them', async (context) => {
      context.skip(!tags.includes('sl'), 'the store has no program for logs')
      const limit = slidingWindowLog({ limit: '2.5', window: '10s' })
      const key = bench.fresh()
      for (let second = 0; second < 24; second += 0.5) {
        const call = bench.call(key, limit, [0.1, 0.3, 0.000001][(2 * second) % 3])
        await bench.decide([call], START + second * 1_000_000)
        await bench.peek([bench.call(key, limit, 2)], START + second * 1_000_000)
        await bench.sameState(call.id)
      }
    })

    it('X4: debt is carried through a change of limit in full', async (context) => {
      context.skip(!tags.includes('tb') || !bench.can('adjust'), 'the store has no adjust, or no program for buckets')
      const random = seeded(4)
      for (let made = 0; made < limitsOf(bench); made += 1) {
        const key = bench.fresh()
        let now = START + Math.floor(random() * 1_000_000)
        let limit = anyLimit('tb', random)
        await bench.adjust(callOf(bench, key, limit, limit.capacity), -2 * limit.capacity, now)
        for (let change = 0; change < 3; change += 1) {
          now += Math.floor(random() * 1_000)
          limit = anyLimit('tb', random)
          await bench.decide([callOf(bench, key, limit, limit.capacity * random())], now)
          const tokens = Math.max(0.000001, Math.floor(limit.capacity * random() * MICRO) / MICRO)
          await bench.adjust(callOf(bench, key, limit, 1), random() < 0.5 ? tokens : -tokens, now)
        }
      }
    }, 60_000)
  })
}

async function tryLimits(tag: TimedTag, bench: Bench, random: () => number): Promise<void> {
  const { tags } = bench
  const other = tags[Math.floor(random() * tags.length)] as TimedTag
  const keys = [bench.fresh(), bench.fresh()] as const
  let limits: readonly [AnyLimit, AnyLimit] = [anyLimit(tag, random), anyLimit(other, random)]
  let now = random() < 0.3 ? LATE : START
  let receipt = now
  const one = (index: 0 | 1): Call => callOf(bench, keys[index], limits[index], limits[index].capacity * random() ** 3 * 1.05)
  for (let step = 0; step < STEPS; step += 1) {
    now = moved(now, limits[0], random)
    const kind = random()
    if (kind < 0.35) await bench.decide([one(0)], now)
    else if (kind < 0.55 && bench.options.givesBack !== true) await bench.decide([one(0), one(1), ...(random() < 0.3 ? [one(0)] : [])], now)
    else if (kind < 0.65) await bench.list(groupsOf(one, random, bench), now)
    else if (kind < 0.75) await bench.peekList(groupsOf(one, random, bench), now)
    else if (kind < 0.9 && bench.can('adjust')) {
      const tokens = Math.max(0.000001, Math.floor(limits[0].capacity * random() * MICRO) / MICRO)
      await bench.adjust(one(0), random() < 0.5 ? tokens : -tokens, now, random() < 0.5 ? receipt : undefined)
    } else if (kind < 0.95 && bench.can('block', 'unblock')) {
      await bench.block(one(0).id, random() < 0.3 ? null : 1 + Math.floor(random() * 5_000_000), now)
    } else limits = [anyLimit(tag, random), limits[1]]
    receipt = now
  }
  expect((await bench.decide([callOf(bench, keys[0], limits[0], 0.000001)], now)).calls).toHaveLength(1)
  await bench.sameState(one(0).id)
}

/** With `givesBack`, each call is a group of its own: refunds of a denied group may leave other states than the reference's. */
function groupsOf(one: (index: 0 | 1) => Call, random: () => number, { options }: Bench): CallGroup[] {
  const both = options.givesBack === true ? 0 : 0.3
  const size = 1 + Math.floor(random() * 4)
  return Array.from({ length: size }, () => ({ calls: random() < both ? [one(0), one(1)] : [one(random() < 0.7 ? 0 : 1)] }))
}

function callOf(bench: Bench, key: string, limit: AnyLimit, tokens: number): Call {
  const cost = Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.round(tokens * MICRO)))
  return { ...bench.call(key, limit), cost }
}

/** Up to two windows later, sometimes backwards. */
function moved(now: Micros, limit: AnyLimit, random: () => number): Micros {
  const length = Math.min(MAX_MICROS, Math.max(1_000, limit.windowMs * 1_000))
  const kind = random()
  const step = Math.floor(length * random() ** 4 * (kind < 0.9 ? 1 : 2))
  // Exactness ends in 2100.
  const next = kind < 0.08 ? now - Math.min(step, 30_000_000) : now + step
  return next > 4_102_444_800_000_000 ? now : next
}
