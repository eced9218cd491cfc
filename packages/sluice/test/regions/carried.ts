import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { type RegionalStore, regionalStore, replicate, type Replicator } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { cellAudit } from './audit.ts'

const SCOPE = { text: 'limiter:limit:tb:' }

interface Carried {
  readonly store: RegionalStore
  readonly replicator: Replicator
}

/** Regions with memory stores and replicators on one manual clock. A message takes 50 ms, unless its link is cut or its page is changed. */
export function carriedRegions(
  names: readonly string[],
  options: { rate?: number; per?: string; burst?: number; maxCells?: number; seed?: number; tickMs?: number } = {},
) {
  const { rate = 1_000, per = 's', burst = rate, seed = 1, tickMs = 10, ...others } = options
  const clock = manualClock()
  const random = seeded(seed)
  const limit = tokenBucket({ rate: `${rate}/${per}`, burst })
  const audit = cellAudit([limit.plan as BucketPlan], false)
  const regions = new Map<string, Carried>()
  const cuts = new Set<string>()
  const errors: unknown[] = []
  const counts = { requests: 0, rows: 0, needs: 0 }
  const hooks: { page?: (page: unknown) => unknown } = {}
  const began = clock.now()
  const travel = (from: string, to: string): Promise<void> =>
    new Promise(
      (resolve, reject) => void clock.after(50, () => (cuts.has(`${from}>${to}`) ? reject(new Error('the link is cut')) : resolve())),
    )
  const start = (self: string): Carried => {
    const peers = names.filter((name) => name !== self)
    const store = regionalStore({ store: memoryStore({ clock }), self, peers, mode: 'escrow', ...others })
    const replicator = replicate({
      store,
      clock,
      random,
      onError: (_, error) => errors.push(error),
      async transport(peer, request) {
        counts.requests += 1
        if (cuts.has(`${self} reads ${peer}`)) throw new Error('no connection')
        await travel(self, peer)
        const page = JSON.parse(JSON.stringify(await regions.get(peer)?.replicator.answer(JSON.parse(JSON.stringify(request)))))
        counts.rows += page.rows.length
        counts.needs += (request as unknown as { needs: unknown[] }).needs.length
        await travel(peer, self)
        return hooks.page === undefined ? page : hooks.page(page)
      },
    })
    const region = { store, replicator }
    regions.set(self, region)
    return region
  }
  const at = (name: string): Carried => regions.get(name) as Carried
  const idOf = (key: string) => ({ scope: SCOPE, key })
  const network = {
    clock,
    tickMs,
    limit,
    cuts,
    errors,
    counts,
    hooks,
    audit,
    at,
    random,
    elapsed: () => (clock.now() - began) / 1_000,
    keyOf: (key = 'k') => ({ id: idOf(key), limit }),
    units: (key = 'k') => names.map((name) => at(name).store.unitsOf?.(network.keyOf(key)) ?? 0),
    /** Returns the tokens that passed. */
    call(name: string, cost = 1, key = 'k'): number {
      const verdict = at(name).store.decideNow?.({ calls: [{ id: idOf(key), limit, cost: cost * MICRO, phase: 0 }] })
      if (verdict?.outcome !== 'allowed') return 0
      if (key === 'k') audit.admit(clock.now() - began, cost * MICRO)
      return cost
    },
    /** Lets time pass; calls `each` at every tick. */
    async pass(ms: number, each: () => void = () => {}): Promise<void> {
      for (let passed = 0; passed < ms; passed += tickMs) {
        clock.advance(tickMs)
        each()
        // All promises that became ready go on.
        await new Promise((resolve) => setImmediate(resolve))
      }
      audit.check(clock.now() - began, 0)
    },
    /** A region is lost with its process, and starts empty. */
    async lose(name: string): Promise<void> {
      await at(name).replicator.close()
      start(name)
    },
    /** Starts another store with the name of a region. Returns the region that was there before, which goes on running. */
    again(name: string): Carried {
      const first = at(name)
      start(name)
      return first
    },
    isOpen: () => names.every((name) => at(name).store.phase === 'open' && at(name).store.era === at(names[0] as string).store.era),
    close: () => Promise.all([...regions.values()].map(({ replicator }) => replicator.close())),
  }
  for (const name of names) start(name)
  return network
}

/** Calls that arrive at random with a mean rate, in one tick. Returns how many passed, and how many there were. */
function arrivals(network: ReturnType<typeof carriedRegions>, name: string, perSecond: number): readonly [passed: number, tried: number] {
  const { random, tickMs } = network
  const least = Math.exp((-perSecond * tickMs) / 1_000)
  let [passed, tried] = [0, 0]
  for (let product = random(); product > least; product *= random()) {
    passed += network.call(name)
    tried += 1
  }
  return [passed, tried]
}

/** Calls with equal pauses, in one tick. Returns how many passed. */
export function paced(network: ReturnType<typeof carriedRegions>, name: string, perSecond: number): number {
  const { tickMs } = network
  const ticks = Math.round(network.elapsed() / tickMs)
  const upTo = (count: number): number => Math.floor((count * perSecond * tickMs) / 1_000)
  let passed = 0
  for (let call = upTo(ticks - 1); call < upTo(ticks); call += 1) passed += network.call(name)
  return passed
}

/**
 * Moves all demand from one of three regions to another. Returns after how many seconds enough calls pass, and which part of the rate is
 * used later on.
 */
export async function move(seed: number, demand: number, rate: number, tickMs = 10) {
  const network = carriedRegions(['ap', 'eu', 'us'], { seed, rate, tickMs })
  while (!network.isOpen()) await network.pass(100)
  await network.pass(10_000, () => void paced(network, 'ap', demand * rate))
  const used: number[] = []
  for (let half = 0; half < 50; half += 1) {
    let passed = 0
    await network.pass(500, () => (passed += paced(network, 'eu', demand * rate)))
    used.push(passed / (rate / 2))
  }
  await network.close()
  const enough = used.findIndex((_, index) => used.slice(index).every((part) => part >= 0.95 * Math.min(1, demand)))
  const after = used.slice(10).reduce((sum, part) => sum + part) / 40
  return { seconds: enough / 2, after, over: network.audit.worst.a > 0, ...network.counts }
}

/** Calls regions at random for a minute, each for its part of the demand. Returns the part of the calls that pass. */
export async function steady(seed: number, demand: number, rate: number, parts: readonly number[], ms = 60_000) {
  const names = parts.map((_, index) => `r${index}`)
  const network = carriedRegions(names, { seed, rate })
  while (!network.isOpen()) await network.pass(100)
  let [passed, tried] = [0, 0]
  const calls = (): void => {
    for (const [index, name] of names.entries()) {
      const [some, all] = arrivals(network, name, demand * rate * (parts[index] as number))
      passed += some
      tried += all
    }
  }
  await network.pass(10_000, calls)
  ;[passed, tried] = [0, 0]
  const before = { ...network.counts }
  await network.pass(ms, calls)
  await network.close()
  const pairs = names.length * (names.length - 1)
  const perSecond = (count: number): number => count / (ms / 1_000) / pairs
  const [rows, needs] = [network.counts.rows - before.rows, network.counts.needs - before.needs].map(perSecond)
  return { part: passed / tried, rows: rows as number, needs: needs as number, over: network.audit.worst.a > 0 }
}

/** Moves the demand around five regions, once in `ms` milliseconds. Returns the part of the calls that pass. */
export async function sun(seed: number, demand: number, rate: number, ms: number) {
  const names = ['r0', 'r1', 'r2', 'r3', 'r4']
  const network = carriedRegions(names, { seed, rate })
  while (!network.isOpen()) await network.pass(100)
  let [passed, tried] = [0, 0]
  const calls = (): void => {
    const heights = names.map((_, index) => Math.max(0, Math.cos(2 * Math.PI * (network.elapsed() / ms - index / names.length))))
    const total = heights.reduce((sum, height) => sum + height)
    for (const [index, name] of names.entries()) {
      const [some, all] = arrivals(network, name, (demand * rate * (heights[index] as number)) / total)
      passed += some
      tried += all
    }
  }
  await network.pass(ms, calls)
  ;[passed, tried] = [0, 0]
  await network.pass(2 * ms, calls)
  await network.close()
  return { part: passed / tried, over: network.audit.worst.a > 0 }
}

/**
 * Regions that take turns with a key: each is called every `pauseMs`, with a cost of which the limit cannot grant two at once. Returns how
 * many calls each region granted once all were open, which part of the rate was used, and how often the key moved.
 */
export async function turns(
  names: readonly string[],
  limit: { rate: number; per: string; burst: number; cost: number },
  { seconds, pauseMs, seed = 1, tickMs = 50 }: { seconds: number; pauseMs: number; seed?: number; tickMs?: number },
) {
  const { rate, per, burst, cost } = limit
  const network = carriedRegions(names, { rate, per, burst, seed, tickMs })
  while (!network.isOpen()) await network.pass(100)
  const granted = names.map(() => 0)
  let ticks = 0
  await network.pass(seconds * 1_000, () => {
    ticks += 1
    if ((ticks * tickMs) % pauseMs < tickMs)
      for (const [index, name] of names.entries()) granted[index] = (granted[index] ?? 0) + network.call(name, cost)
  })
  const moves = names.reduce((sum, name) => sum + network.at(name).replicator.status().transfers.sent, 0)
  await network.close()
  const perSecond = per === 's' ? rate : rate / 60
  return { granted, use: granted.reduce((sum, one) => sum + one) / (perSecond * seconds), moves, over: network.audit.worst.a > 0 }
}
