import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../../../src/testing/random.ts'
import { cut, heal, type Process, type Region } from './region.ts'
import type { Passed } from './trace.ts'

/** Callers of each region, divided among its processes. */
const CALLERS = 4
/** After a denial a caller waits so long, in milliseconds. */
const DENIED_MS = 10
const MAX_COST = 3

/** Callers in all regions that call as fast as they can, from the start of a run to its end. */
export interface Load {
  readonly passed: Passed[]
  readonly counts: { calls: number; undecided: number }
  /** The keys that the callers of each region call. A region that is absent has no callers. */
  readonly wants: Map<string, readonly string[]>
  /** The cost of all calls of a key in a region since the start, also of those that were denied. */
  attemptedOf(region: string, key: string): number
  /** When a call of a region last passed, by `performance.now()`. */
  readonly passedAt: ReadonlyMap<string, number>
  stop(): Promise<void>
}

export function startLoad(regions: ReadonlyMap<string, Region>, seed: number): Load {
  const passed: Passed[] = []
  const counts = { calls: 0, undecided: 0 }
  const wants = new Map<string, readonly string[]>()
  const passedAt = new Map<string, number>()
  const attempted = new Map<string, number>()
  const attemptedOf = (region: string, key: string): number => attempted.get(`${region} ${key}`) ?? 0
  const ending = new AbortController()
  const caller = async (region: string, process: Process, index: number, random: () => number): Promise<void> => {
    while (!ending.signal.aborted) {
      const keys = wants.get(region) ?? []
      const key = keys[Math.floor(random() * keys.length)]
      if (key === undefined || process.gone) {
        await pause(20)
        continue
      }
      const cost = 1 + Math.floor(random() * MAX_COST)
      attempted.set(`${region} ${key}`, attemptedOf(region, key) + cost)
      const { outcome, atMicros } = await process.limiter.check(key, { cost })
      counts.calls += 1
      if (outcome === 'allowed') {
        passed.push({ region, process: index, key, at: atMicros, cost })
        passedAt.set(region, performance.now())
      } else {
        if (outcome === 'undecided') counts.undecided += 1
        await pause(DENIED_MS)
      }
    }
  }
  const callers = [...regions.values()].flatMap(({ name, processes }) =>
    processes.flatMap((process, index) => Array.from({ length: CALLERS / processes.length }, () => ({ name, process, index }))),
  )
  const done = Promise.all(callers.map(({ name, process, index }, at) => caller(name, process, index, seeded(seed + at))))
  return {
    passed,
    counts,
    wants,
    passedAt,
    attemptedOf,
    async stop() {
      ending.abort()
      await done
    },
  }
}

/** Changes now and then which keys each region wants, and cuts links: one way, between two regions, or all of a region. */
export async function unrest(
  regions: ReadonlyMap<string, Region>,
  load: Load,
  keys: readonly string[],
  milliseconds: number,
  random: () => number,
): Promise<void> {
  const names = [...regions.keys()]
  const draw = (): string => names[Math.floor(random() * names.length)] as string
  const end = performance.now() + milliseconds
  while (performance.now() < end) {
    for (const name of names)
      load.wants.set(
        name,
        keys.filter(() => random() < 0.5),
      )
    const [one, other, kind] = [draw(), draw(), random()]
    heal(regions)
    const link = (from: string, to: string): void => {
      const found = regions.get(from)?.links.get(to)
      if (found !== undefined) found.faults.isCut = true
    }
    if (kind < 0.5) link(one, other)
    if (kind < 0.25) link(other, one)
    if (kind > 0.8) cut(regions, one, { reads: true, isRead: kind > 0.9 })
    await pause(Math.min(500 + random() * 2_000, Math.max(0, end - performance.now())))
  }
  heal(regions)
}
