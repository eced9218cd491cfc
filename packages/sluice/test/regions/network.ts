import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import type { MicroTokens } from '../../src/algorithms/algorithm.ts'
import { EMPTY_CELL, type Cell, type RegionStore } from '../../src/regions/rights/state.ts'
import { type RegionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import { type Roster, weightOf } from '../../src/regions/rights/roster.ts'
import { isWhole } from '../../src/regions/rights/undivided.ts'
import { type CellAudit, cellAudit } from './audit.ts'
import { doAgree, goneOf, isMixed, limitOf, sumOf, type Message, type Programs, type Site, withWeightOf } from './site.ts'

/** True time begins here; stores' clocks are around it. The stores have been running for so long that all cells are full. */
const START = 1_000_000_000_000
const LONG_AGO = 0

export interface NetworkOptions {
  readonly programs: Programs
  readonly weights: readonly number[]
  /** One limit, or two that take turns. */
  readonly limits: readonly BucketPlan[]
  readonly cells?: number
  /** Whether one region holds all units of a key if a share of the limit would be below one token. */
  readonly undivided?: boolean
  /** By region: parts per million by which its clock is fast (500, 0 or -500). */
  readonly drifts?: readonly number[]
  /** By region: microseconds by which its clock is ahead. */
  readonly offsets?: readonly number[]
}

export type Network = ReturnType<typeof createNetwork>

/** Regions, their stores, and a network between them. Nothing happens by itself: a history says what happens, and when. */
export function createNetwork({
  programs,
  weights,
  limits,
  cells: count = 1,
  undivided = false,
  drifts = [],
  offsets = [],
}: NetworkOptions) {
  const names = weights.map((_, index) => `r${index}`)
  const rosterOf = (version: number, by: readonly number[]): Roster => ({
    version,
    weights: new Map(by.map((weight, index) => [names[index] as string, weight])),
  })
  const first = rosterOf(1, weights)
  const keys = Array.from({ length: count }, (_, index) => `k${index}`)
  const regional = limits.map((plan) => {
    const limit = limitOf(programs, plan)
    return new Map(keys.map((key, index) => [key, undivided ? programs.keyedLimit(limit, index) : limit]))
  })
  const drifting = drifts.some((drift) => drift !== 0)
  const mixed = undivided && isMixed(limits, weights.length)
  const audits = new Map<string, CellAudit[]>(keys.map((key) => [key, [cellAudit(mixed ? [sumOf(limits)] : limits, drifting)]]))
  const queue: Message[] = []
  const cuts = new Set<string>()
  let now = 0
  /** Set as soon as all regions have adopted this limit for good. */
  let settled: number | undefined
  /** The most units that all regions held together of one cell (audit c). */
  let mostUnits = 0

  const sites = names.map((name, index): Site => {
    const bound = new Map(names.filter((other) => other !== name).map((other) => [other, `${other}.1`]))
    const shifts: RegionStore['shifts'] = [{ era: 0, at: LONG_AGO, units: weightOf(first, name), rosters: [first], cut: false }]
    const fixed = { phase: 'open', era: 0, roster: first, next: undefined, shifts, bound, joins: new Map(), answers: new Map() } as const
    const store = { region: name, run: `${name}.1`, ...fixed }
    const offset = offsets[index] ?? 0
    const clock = { offset, drift: drifts[index] ?? 0 }
    return { name, server: 1, store, cells: new Map(), statuses: new Map(), snapshot: undefined, dead: false, ...clock }
  })
  const siteOf = (index: number): Site => sites[index] as Site
  const clockOf = ({ offset, drift }: Site): number => START + offset + now + Math.floor((now * drift) / 1_000_000)
  const living = (): readonly Site[] => sites.filter(({ dead }) => !dead)
  const policiesNow = (): readonly number[] => (settled === undefined ? [...limits.keys()] : [settled])
  const limitAt = (policy: number, key: string): RegionalLimit => regional[settled ?? policy]?.get(key) as RegionalLimit
  const cellOf = (site: Site, key: string): Cell => site.cells.get(key) ?? EMPTY_CELL
  const keyOf = (cell: number): string => keys[cell] as string
  const unitsAt = (site: Site, key: string): number => programs.unitsOf(storeOf(site), cellOf(site, key), limitAt(0, key))

  /** Returns what a region knows, as every program begins: a new run, if the server is not the one that wrote it. */
  const storeOf = (site: Site): RegionStore => {
    const stored = programs.inRun(site.store, site.name, `${site.name}.${site.server}`, first, clockOf(site))
    if (stored.run !== site.store?.run) site.cells = new Map()
    site.store = stored
    return stored
  }
  const post = (message: Message): void => {
    if (!cuts.has(`${message.from}>${message.to}`) && !siteOf(message.from).dead) queue.push(message)
  }
  const check = (): void => {
    for (const [key, all] of audits) {
      let left = 0
      let units = 0
      for (const site of living()) {
        const store = storeOf(site)
        const cell = cellOf(site, key)
        units += programs.unitsOf(store, cell, limitAt(0, key))
        left += Math.max(...policiesNow().map((policy) => programs.spendable(store, cell, limitAt(policy, key), clockOf(site))))
      }
      mostUnits = Math.max(mostUnits, units)
      for (const audit of all) audit.check(now, left)
    }
  }
  const receive = (message: Message, policy: number): void => {
    const site = siteOf(message.to)
    const store = storeOf(site)
    const back = { from: message.to, to: message.from }
    switch (message.kind) {
      case 'row': {
        const merged = programs.merge(store, cellOf(site, message.cell), limitAt(policy, message.cell), message.row, clockOf(site))
        if (merged !== undefined) site.cells.set(message.cell, merged)
        return
      }
      case 'status':
        site.statuses.set(message.status.from, message.status)
        site.store = programs.meet(store, message.status, clockOf(site))
        return
      case 'ask':
        return post({ ...back, kind: 'invitation', invitation: programs.invite(store, siteOf(message.from).name) })
      case 'invitation':
        if (programs.mustGreet(store, siteOf(message.from).name))
          post({ ...back, kind: 'hello', hello: programs.hello(store, message.invitation) })
        return
      case 'hello': {
        const greeted = programs.greet(store, message.hello)
        site.store = greeted.store
        if (greeted.answer !== undefined) post({ ...back, kind: 'answer', answer: greeted.answer })
        return
      }
      case 'answer':
        site.store = programs.learn(store, message.answer)
    }
  }

  const network = {
    regions: weights.length,
    cells: count,
    limits: limits.length,
    mixed,
    isWhole: (policy: number): boolean => isWhole(first, limitAt(policy, keyOf(0))),
    rosterOf,
    site: siteOf,
    queue,
    check,
    get mostUnits() {
      return mostUnits
    },
    /** The most tokens above the limit of any cell, in bursts, by audits (a) and (b). */
    get worst(): { readonly a: number; readonly b: number } {
      const found = [...audits.values()].flat().map(({ worst }) => worst)
      return { a: Math.max(...found.map(({ a }) => a)), b: Math.max(...found.map(({ b }) => b)) }
    },
    /** Whether an audit has failed. A history then stops, because wrong programs may come to hold more units than numbers can count. */
    get failed(): boolean {
      const { a, b } = network.worst
      return a > 0 || b > 0 || mostUnits > 10 * UNITS
    },
    /** For how many cells the limit was reached exactly. */
    get reached(): number {
      return [...audits.values()].filter((all) => all.some(({ worst }) => worst.a === 0)).length
    },
    wait(micros: number): void {
      now += micros
    },
    /** Calls once; returns the micro-tokens that passed. Without a cost, all that is left. */
    call(region: number, cost?: MicroTokens, cell = 0, policy = 0): number {
      const site = siteOf(region)
      if (site.dead) return 0
      const store = storeOf(site)
      const key = keyOf(cell)
      const limit = limitAt(policy, key)
      const amount = cost ?? programs.spendable(store, cellOf(site, key), limit, clockOf(site))
      if (amount === 0) return 0
      const step = programs.decide(store, cellOf(site, key), limit, clockOf(site), amount)
      site.cells.set(key, step.cell)
      if (step.outcome !== 'allowed') return 0
      for (const audit of audits.get(key) ?? []) audit.admit(now, amount)
      return amount
    },
    /** From now on there is one limit: every state adopts it, and intervals that begin later must keep to it alone. */
    settle(policy: number): void {
      if (settled !== undefined) return
      settled = policy
      for (const index of sites.keys()) for (let cell = 0; cell < count; cell += 1) network.call(index, 1, cell)
      for (const all of audits.values()) all.push(cellAudit([limits[policy] as BucketPlan], drifting, now))
    },
    spendable: (region: number, cell = 0, policy = 0): number => {
      const site = siteOf(region)
      return programs.spendable(storeOf(site), cellOf(site, keyOf(cell)), limitAt(policy, keyOf(cell)), clockOf(site))
    },
    unitsOf: (region: number, cell = 0): number => unitsAt(siteOf(region), keyOf(cell)),
    /** Sends units, at most those that are held. */
    give(region: number, to: number, units: number, most?: MicroTokens, cell = 0, policy = 0): boolean {
      const site = siteOf(region)
      if (site.dead) return false
      const key = keyOf(cell)
      const limit = limitAt(policy, key)
      const next = programs.give(storeOf(site), cellOf(site, key), limit, siteOf(to).name, units, clockOf(site), most)
      if (next !== undefined) site.cells.set(key, next)
      return next !== undefined
    },
    /**
     * A region reads a peer's rows and status. If the peer does not know the region's run, the region also sends its request to be known.
     */
    pull(region: number, peer: number): void {
      const link = { from: peer, to: region }
      const [reader, site] = [siteOf(region), siteOf(peer)]
      if (reader.dead || site.dead) return
      if (programs.mustGreet(storeOf(reader), site.name)) post({ from: region, to: peer, kind: 'ask' })
      const store = storeOf(site)
      for (const [cell, value] of site.cells) {
        const row = programs.rowTo(store, value, reader.name)
        if (row !== undefined) post({ ...link, kind: 'row', cell, row })
      }
      post({ ...link, kind: 'status', status: programs.statusFor(store, reader.name) })
    },
    /** A message of the queue arrives; with `again`, it will arrive once more. */
    deliver(index = 0, again = false, policy = 0): Message['kind'] | undefined {
      const message = queue[index]
      if (message === undefined) return undefined
      if (!again) queue.splice(index, 1)
      if (cuts.has(`${message.from}>${message.to}`) || siteOf(message.to).dead) return undefined
      receive(message, policy)
      return message.kind
    },
    /** Delivers all messages in order, with those that they cause. */
    deliverAll(policy = 0): void {
      while (queue.length > 0) network.deliver(0, false, policy)
    },
    close(region: number, roster: Roster = first): void {
      const site = siteOf(region)
      if (!site.dead) site.store = programs.close(storeOf(site), roster, clockOf(site))
    },
    /** The server of a region ends, for good unless `replace` gives the region another one. */
    die: (region: number): void => void (siteOf(region).dead = true),
    /** An operator says in a region that a run of another one is gone, if that is true. The region gets the weight of the other one. */
    adopt(region: number, lost: number): boolean {
      const [site, other] = [siteOf(region), siteOf(lost)]
      const store = site.dead ? undefined : storeOf(site)
      const gone = store && goneOf(store, other)
      if (store === undefined || gone === undefined) return false
      site.store = programs.adopt(store, withWeightOf(store, other.name), [gone], clockOf(site)) ?? store
      return site.store !== store
    },
    /** Returns whether the region is open in a new era. */
    open(region: number): boolean {
      const site = siteOf(region)
      if (site.dead) return false
      const store = storeOf(site)
      site.store = programs.open(store, site.statuses, clockOf(site))
      return site.store.phase === 'open' && store.phase !== 'open'
    },
    /** Every region reads every other one, and all messages arrive. Returns how many eras began. */
    round(): number {
      let eras = 0
      for (const region of sites.keys()) {
        for (const peer of sites.keys()) {
          if (peer === region) continue
          network.pull(region, peer)
          network.deliverAll()
          if (network.open(region)) eras += 1
          network.check()
        }
      }
      return eras
    },
    cut: (from: number, to: number): unknown => cuts.add(`${from}>${to}`),
    heal: (from: number, to: number): unknown => cuts.delete(`${from}>${to}`),
    isCut: (from: number, to: number): boolean => cuts.has(`${from}>${to}`),
    snapshot(region: number): void {
      const site = siteOf(region)
      if (!site.dead) site.snapshot = { store: storeOf(site), cells: new Map(site.cells) }
    },
    /** The region gets another server, empty or with the last snapshot, and with another clock. */
    replace(region: number, restored: boolean, offset: number = siteOf(region).offset): void {
      const site = siteOf(region)
      const { store, cells } = (restored ? site.snapshot : undefined) ?? { store: undefined, cells: new Map() }
      site.server += 1
      site.store = store
      site.cells = new Map(cells)
      site.offset = offset
      site.dead = false
    },
    /** The clock of a store steps. The audits count each step forward, also one that only takes back an earlier step. */
    step(region: number, micros: number): void {
      const site = siteOf(region)
      site.offset += micros
      for (const audit of [...audits.values()].flat()) audit.stepped(Math.max(0, micros))
    },
    /** States that have expired disappear. */
    sweep(region: number): void {
      const site = siteOf(region)
      if (!site.dead) storeOf(site)
      for (const [key, cell] of site.cells) if (programs.keepUntil(cell) <= clockOf(site)) site.cells.delete(key)
    },
    /** Whether all regions agree (audit d): one era, one roster, all rows received, and all units of the roster held. */
    agree: (): boolean => doAgree(sites, storeOf, keys, mixed ? undefined : limitAt(0, keyOf(0)), (site, key) => unitsAt(site, key)),
  }
  return network
}
