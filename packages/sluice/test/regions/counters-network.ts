import { type BucketPlan, floorDiv, levelAt } from '../../src/algorithms/bucket-plan.ts'
import { fromMicroTokens, MICRO } from '../../src/algorithms/decimal.ts'
import { type BucketState, filled, tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { SpendPage } from '../../src/regions/counters/spend.ts'
import type { Position } from '../../src/regions/replicator/message-reader.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Call, StateId } from '../../src/stores/store.ts'
import { type CountersAudit, countersAudit } from './counters-audit.ts'
import type * as rules from './counters-programs.ts'

export type CountersPrograms = typeof rules

/** True time begins here; stores' clocks are around it. */
const START = 1_000_000_000_000
const SCOPE = { text: 'limiter:limit:tb:' }

export interface CountersNetworkOptions {
  readonly programs: CountersPrograms
  readonly weights: readonly number[]
  /** One limit, or two that take turns. */
  readonly limits: readonly BucketPlan[]
  readonly cells: number
  /** Milliseconds; undefined: none. */
  readonly cutoffMs: number | undefined
  /** By region: parts per million by which its clock is fast (500, 0 or -500). */
  readonly drifts: readonly number[]
  /** By region: microseconds by which its clock is ahead. */
  readonly offsets: readonly number[]
}

/** A message on its way. A request says how far a region has read. A page has what was requested. */
type Message = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'request'; readonly read: Position | undefined; readonly asked: number }
  | {
      readonly kind: 'page'
      readonly run: string
      readonly page: SpendPage
      readonly after: number
      /** When the region asked, by its monotonic clock. */
      readonly asked: number
      /** How many calls had passed anywhere, and the life of the store, when the page was made. */
      readonly made: number
      readonly life: number
    }
)

/** A call that passed, in true time. */
interface Passed {
  readonly at: number
  /** How many calls had passed anywhere. */
  readonly order: number
  readonly life: number
}

type Node = ReturnType<typeof createNode>

/** One region over a memory store. */
function createNode({ programs, weights, limits, cutoffMs }: CountersNetworkOptions, index: number, life: number, clock: NodeClock) {
  const names = weights.map((_, other) => `r${other}`)
  const time = { now: clock.now, monotonic: clock.monotonic, after: () => () => {} }
  const store = memoryStore({ clock: time })
  const self = names[index] as string
  const peers = names.filter((name) => name !== self)
  const counters = programs.createCounters(store, peers, `${self}.${life}`, {
    maxCells: 100,
    cutoffMs,
    monotonic: clock.monotonic,
    keptMs: Infinity,
  })
  counters.attach(clock.monotonic)
  const parts = programs.regionalLimits(self, new Map(names.map((name, other) => [name, weights[other] as number])), false)
  const made = programs.countingStore(store, counters, self, new Map(names.map((name, other) => [name, weights[other] as number])), parts)
  const states = (id: StateId): BucketState | undefined => {
    let found: BucketState | undefined
    store.rewrite(id, tokenBucketKernel, (state) => void (found = state as BucketState | undefined))
    return found && { ...found }
  }
  return { index, life, name: self, clock, store, counters, made, parts, states, positions: new Map<string, Position>(), limits }
}

interface NodeClock {
  readonly now: () => number
  readonly monotonic: () => number
}

export type CountersNetwork = ReturnType<typeof createCountersNetwork>

/** Regions with counters, and a network between them in which nothing happens by itself. */
export function createCountersNetwork(options: CountersNetworkOptions) {
  const { weights, limits, cells, drifts, offsets, programs } = options
  const count = weights.length
  const keys = Array.from({ length: cells }, (_, cell) => `k${cell}`)
  const compiled = limits.map((plan): AnyLimit => ({
    algorithm: tokenBucketKernel as AnyLimit['algorithm'],
    plan,
    capacity: fromMicroTokens(plan.burst),
    windowMs: 1,
    phased: false,
  }))
  const drifting = drifts.some((drift) => drift !== 0)
  const audits = keys.map((): CountersAudit => countersAudit(limits, drifting))
  const queue: Message[] = []
  const cuts = new Set<string>()
  const shifts = [...offsets]
  let now = 0
  const drifted = (index: number): number => now + Math.floor((now * (drifts[index] ?? 0)) / 1_000_000)
  const clockOf = (index: number): NodeClock => ({
    now: () => START + (shifts[index] ?? 0) + drifted(index),
    monotonic: () => drifted(index) / 1_000,
  })
  const nodes = weights.map((_, index) => createNode(options, index, 1, clockOf(index)))
  const nodeOf = (index: number): Node => nodes[index] as Node
  /** By region and cell. */
  const passed: Passed[][][] = weights.map(() => keys.map(() => []))
  /** By region, and by peer: all calls of this life of the peer's store up to `order` are known to the region. */
  const knownTo = weights.map(() => weights.map(() => ({ life: 1, order: 0 })))
  let orders = 0
  const longest = new Map<string, number>()
  const coverage = { cutOff: 0, charged: 0 }

  const others = (index: number): number[] => weights.flatMap((_, other) => (other === index ? [] : [other]))
  const delayOf = (reader: number, other: number, cell: number): number => {
    const { life } = nodeOf(other)
    const known = knownTo[reader]?.[other] as { life: number; order: number }
    const after = known.life === life ? known.order : 0
    const calls = passed[other]?.[cell] ?? []
    let oldest: number | undefined
    for (let place = calls.length - 1; place >= 0; place -= 1) {
      const call = calls[place] as Passed
      if (call.life !== life || call.order <= after) break
      oldest = call.at
    }
    const delay = oldest === undefined ? 0 : now - oldest
    const pair = `${reader} ${other}`
    longest.set(pair, Math.max(longest.get(pair) ?? 0, delay))
    return delay
  }
  const isCut = (index: number): boolean => nodeOf(index).counters.cutSince() !== undefined
  /** Audit (c): how many microseconds longer than its cutoff a region did not know a call, while it granted whole limits. */
  let stale = 0
  /** D for each other region. If the region is cut off, the cutoff takes the place of D. */
  const delaysOf = (index: number, cell: number): number[] => {
    const measured = others(index).map((other) => delayOf(index, other, cell))
    if (options.cutoffMs === undefined) return measured
    const most = options.cutoffMs * (drifting ? 1_001 : 1_000)
    if (isCut(index)) return measured.map(() => most)
    stale = Math.max(stale, ...measured.map((delay) => delay - most))
    return measured
  }
  const spendable = (index: number, cell: number, policy: number): number => {
    const node = nodeOf(index)
    const limit = compiled[policy] as AnyLimit
    const since = node.counters.cutSince()
    const key = keys[cell] as string
    const part = since === undefined ? limit : node.parts.partOf(limit)
    if (part === undefined) return 0
    const own = since === undefined ? part : programs.partSince(part, since)
    const stored = node.states(since === undefined ? { scope: SCOPE, key } : { scope: { text: `cut ${SCOPE.text}` }, key })
    const time = node.clock.now()
    const state = (stored && own.algorithm.adopt(own.plan, stored, time, 0)) as BucketState | undefined
    const { remaining } = own.algorithm.view(own.plan, state, time, 0)
    if (since !== undefined) return remaining * MICRO
    const at = Math.max(time, state?.seen ?? time)
    const level = floorDiv(levelAt(own.plan, filled(own.plan, state, at), at), BigInt(own.plan.m))
    return Math.max(0, Number(level))
  }
  const post = (message: Message): void => {
    if (!cuts.has(`${message.from}>${message.to}`)) queue.push(message)
  }
  const receive = (message: Message): void => {
    const node = nodeOf(message.to)
    const back = { from: message.to, to: message.from }
    if (message.kind === 'request') {
      const { read, asked } = message
      const page = node.counters.page(nodeOf(message.from).name, read)
      const after = read?.run === node.counters.run ? read.at : 0
      // The page is copied, because a wrong program may change the rows that it has sent.
      const copy = { ...page, rows: page.rows.map((row) => ({ ...row })) }
      return post({ ...back, kind: 'page', run: node.counters.run, page: copy, after, asked, made: orders, life: node.life })
    }
    const { run, page, after, asked, made, life } = message
    const peer = nodeOf(message.from).name
    if (!node.counters.receive(peer, run, page)) return
    coverage.charged += page.rows.length
    // As in a replicator: if rows between the known ones and this page are missing, only the rows of the page count, not its cursor.
    const position = node.positions.get(peer)
    const at = position?.run === run ? position.at : 0
    if (after > at) return
    node.positions.set(peer, { run, at: Math.max(at, page.cursor) })
    node.counters.complete(peer, run, page.births, asked)
    const known = knownTo[message.to] as { life: number; order: number }[]
    const before = known[message.from] as { life: number; order: number }
    if (life > before.life || (life === before.life && made > before.order)) known[message.from] = { life, order: made }
  }

  const network = {
    regions: count,
    cells,
    limits: limits.length,
    queue,
    coverage,
    get worst(): { readonly a: number; readonly b: number } {
      return { a: Math.max(...audits.map(({ worst }) => worst.a)), b: Math.max(...audits.map(({ worst }) => worst.b)) }
    },
    get stale(): number {
      return stale
    },
    get reached(): number {
      return audits.filter(({ worst }) => worst.a === 0).length
    },
    wait(micros: number): void {
      now += micros
    },
    /** Calls once; returns the micro-tokens that passed. Without a cost, all that is left. */
    call(index: number, cost: number | undefined, cell = 0, policy = 0): number {
      const amount = cost ?? spendable(index, cell, policy)
      if (amount === 0) return 0
      const delays = delaysOf(index, cell)
      const node = nodeOf(index)
      const id = { scope: SCOPE, key: keys[cell] as string }
      const verdict = node.made.decideNow?.({ calls: [{ id, limit: compiled[policy] as AnyLimit, cost: amount, phase: 0 } satisfies Call] })
      if (verdict?.outcome !== 'allowed') return 0
      if (isCut(index)) coverage.cutOff += 1
      orders += 1
      passed[index]?.[cell]?.push({ at: now, order: orders, life: node.life })
      audits[cell]?.admit(now, amount, delays)
      return amount
    },
    /** Audits what could pass if everything that is left were taken in all regions, for each region as the last one. */
    check(): void {
      for (const cell of keys.keys()) {
        const left = nodes.map((_, index) => Math.max(...limits.map((__, policy) => spendable(index, cell, policy))))
        const sum = left.reduce((total, one) => total + one, 0)
        for (const [index, one] of left.entries()) if (one > 0) audits[cell]?.check(now, sum, delaysOf(index, cell))
      }
    },
    spendable,
    pull(reader: number, other: number): void {
      const node = nodeOf(reader)
      const read = node.positions.get(nodeOf(other).name)
      post({ from: reader, to: other, kind: 'request', read, asked: node.clock.monotonic() })
    },
    /** A message of the queue arrives; with `again`, it will arrive once more. */
    deliver(place = 0, again = false): void {
      const message = queue[place]
      if (message === undefined) return
      if (!again) queue.splice(place, 1)
      if (!cuts.has(`${message.from}>${message.to}`)) receive(message)
    },
    deliverAll(): void {
      while (queue.length > 0) network.deliver()
    },
    round(): void {
      for (let reader = 0; reader < count; reader += 1) {
        for (const other of others(reader)) {
          network.pull(reader, other)
          network.deliverAll()
        }
      }
    },
    cut: (from: number, to: number): unknown => cuts.add(`${from}>${to}`),
    heal: (from: number, to: number): unknown => cuts.delete(`${from}>${to}`),
    /** The process of a region ends, and another one begins with an empty store. Messages to the old process are lost. */
    lose(index: number, offset: number): void {
      for (const reader of others(index)) for (const cell of keys.keys()) delayOf(reader, index, cell)
      for (const other of others(index)) for (const cell of keys.keys()) delayOf(index, other, cell)
      const most = Math.max(0, ...longest.values())
      for (const audit of audits) audit.lost(others(index).map(() => most))
      shifts[index] = offset
      nodes[index] = createNode(options, index, nodeOf(index).life + 1, clockOf(index))
      // What peers spent before the loss counts only in the intervals before the loss.
      knownTo[index] = weights.map((_, other) => ({ life: nodeOf(other).life, order: orders }))
      for (let place = queue.length - 1; place >= 0; place -= 1) if (queue[place]?.to === index) queue.splice(place, 1)
    },
    step(index: number, micros: number): void {
      shifts[index] = (shifts[index] ?? 0) + micros
      for (const audit of audits) audit.stepped(Math.max(0, micros))
    },
    sweep: (index: number): void => nodeOf(index).counters.sweep(),
    /** Whether every region knows all calls of every other one, and reading once more would change no state. */
    agree(): boolean {
      const charges = (reader: number, other: number): boolean => {
        const [node, peer] = [nodeOf(reader), nodeOf(other)]
        const before = keys.map((key) => JSON.stringify(node.states({ scope: SCOPE, key })))
        node.counters.receive(peer.name, peer.counters.run, peer.counters.page(node.name, node.positions.get(peer.name)))
        return keys.some((key, cell) => JSON.stringify(node.states({ scope: SCOPE, key })) !== before[cell])
      }
      const knows = (reader: number, other: number): boolean => [...keys.keys()].every((cell) => delayOf(reader, other, cell) === 0)
      return nodes.every((_, reader) => others(reader).every((other) => knows(reader, other) && !charges(reader, other)))
    },
  }
  return network
}
