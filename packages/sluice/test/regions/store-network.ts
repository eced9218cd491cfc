import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import type { Escrow } from '../../src/regions/escrow/escrow.ts'
import type { Page } from '../../src/regions/rights/state.ts'
import { bind, endEra, pull } from '../../src/regions/escrow/pull.ts'
import { type RegionalStore, regionalStore } from '../../src/regions.ts'
import { escrowOf } from '../../src/regions/regional-store.ts'
import { fullBucket } from '../../src/regions/rights/cell.ts'
import { regionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import * as programs from '../../src/regions/rights/programs.ts'
import { isUndivided, limitOfKey } from '../../src/regions/rights/undivided.ts'
import { type CellAudit, cellAudit } from './audit.ts'
import { heldTokens } from './held-tokens.ts'
import { isMixed, sumOf } from './site.ts'

/** True time begins here. */
const START = 1_763_692_800_000_000
const SCOPE = { text: 'limiter:limit:tb' }

interface Site {
  readonly name: string
  inner: MemoryStore
  store: RegionalStore
  readonly clock: { micros: number; readonly offset: number }
}

/** Regions with real stores, and a network between them. A history says which pages are lost, repeated, late or in another order. */
export function storeNetwork(
  weights: readonly number[],
  limits: readonly AnyLimit[],
  { cells = 1, maxCells = 100, offsets = [] as readonly number[], others = limits } = {},
) {
  const names = weights.map((_, index) => `r${index}`)
  const limitsOf = (cell: number): readonly AnyLimit[] => (cell === 0 ? limits : others)
  const plansOf = (cell: number): BucketPlan[] => limitsOf(cell).map(({ plan }) => plan as BucketPlan)
  const bounds = [limits, others].map((all) => all.map(({ plan }) => regionalLimit(plan as BucketPlan)))
  const boundOf = (cell: number, policy: number) => bounds[Math.min(cell, 1)]?.[policy] as ReturnType<typeof regionalLimit>
  const isMixedIn = (cell: number): boolean => isMixed(plansOf(cell), names.length, names.length)
  const auditOf = (cell: number): CellAudit => cellAudit(isMixedIn(cell) ? [sumOf(plansOf(cell))] : plansOf(cell), false)
  const audits: CellAudit[] = Array.from({ length: cells }, (_, cell) => auditOf(cell))
  /** Of before a rollout was settled. */
  const before: CellAudit[] = []
  /** Those that count. */
  let policies = limits.map((_, policy) => policy)
  const queue: { readonly to: number; readonly page: Page }[] = []
  const cuts = new Set<string>()
  let now = 0
  let mostUnits = 0
  const start = (name: string, clock: Site['clock']): Pick<Site, 'inner' | 'store'> => {
    const time = { ...manualClock(0), now: () => START + clock.offset + clock.micros }
    const inner = memoryStore({ clock: time })
    const named = Object.fromEntries(names.map((one, index) => [one, weights[index] as number]))
    return { inner, store: regionalStore({ store: inner, self: name, weights: named, mode: 'escrow', maxCells }) }
  }
  const sites = names.map((name, index): Site => {
    const clock = { micros: 0, offset: offsets[index] ?? 0 }
    return { name, clock, ...start(name, clock) }
  })
  const at = (region: number): Site => sites[region] as Site
  const escrow = (region: number): Escrow => escrowOf(at(region).store)
  const keyOf = (cell: number, policy: number) => ({ id: { scope: SCOPE, key: `k${cell}` }, limit: limitsOf(cell)[policy] as AnyLimit })
  const isCut = (from: number, to: number): boolean => cuts.has(`${from}>${to}`)
  /**
   * The most micro-tokens that one call could take now. It is computed from the state and not found by a call, because a call by another
   * limit changes the state.
   */
  const spendable = (region: number, cell = 0, policy = 0): number => {
    const { inner, clock } = at(region)
    const { id } = keyOf(cell, policy)
    const [own, bound] = [escrow(region), limitOfKey(boundOf(cell, policy), id)]
    const time = START + clock.offset + clock.micros
    const numbers = inner.stateOf(id)
    const { rows } = own.held(id, bound)
    const absent = rows === undefined ? undefined : fullBucket(own.region, rows, own.fullBy(id) ?? bound, time)
    const bucket = numbers === undefined ? absent : tokenBucketKernel.codec.decodeState(numbers)
    return programs.spendable(own.region, { bucket, rows }, bound, time)
  }
  const holds = heldTokens(
    (region) => at(region).store,
    () => ({}),
    keyOf,
    (cell) => ({ audit: audits[cell], now }),
    spendable,
  )
  return {
    ...holds,
    sites,
    queue,
    cuts,
    spendable,
    get mostUnits() {
      return mostUnits
    },
    get worst() {
      const all = [...before, ...audits]
      return { a: Math.max(...all.map(({ worst }) => worst.a)), b: Math.max(...all.map(({ worst }) => worst.b)) }
    },
    /** By a region's clock. */
    time: (region: number): number => START + at(region).clock.offset + at(region).clock.micros,
    wait(micros: number): void {
      now += micros
      for (const { clock } of sites) clock.micros = now
    },
    /** Removes states that have expired, as the store does when other keys need their room. */
    forget(): void {
      for (const { inner, clock } of sites) {
        for (let cell = 0; cell < cells; cell += 1) {
          const { id } = keyOf(cell, 0)
          const bucket = tokenBucketKernel.codec.decodeState(inner.stateOf(id) ?? [])
          if (tokenBucketKernel.expiresAt(bucket.plan, bucket) > START + clock.offset + clock.micros) continue
          inner.rewrite(id, tokenBucketKernel, () => ({ limit: limitsOf(cell)[0] as AnyLimit, state: undefined }))
        }
      }
    },
    /** Makes one call, with the cost or with all that is left. Returns the micro-tokens that passed. */
    call(region: number, cost?: number, cell = 0, policy = 0): number {
      const amount = cost ?? spendable(region, cell, policy)
      if (amount === 0) return 0
      const verdict = at(region).store.decideNow?.({ calls: [{ ...keyOf(cell, policy), cost: amount, phase: 0 }] })
      if (verdict?.outcome !== 'allowed') return 0
      audits[cell]?.admit(now, amount)
      return amount
    },
    give: (region: number, to: number, part: number, cell = 0, policy = 0): boolean => {
      const units = Math.ceil((at(region).store.unitsOf?.(keyOf(cell, policy)) ?? 0) * part)
      return units > 0 && at(region).store.give?.(keyOf(cell, policy), at(to).name, units) === true
    },
    lend(region: number, to: number, part: number, cell: number, policy: number): boolean {
      const { id } = keyOf(cell, policy)
      return escrow(region).lend({ ...id }, boundOf(cell, policy).policy, at(to).name, ({ units }) => Math.ceil(units * part))
    },
    settle(policy: number): void {
      policies = [policy]
      for (let cell = 0; cell < cells; cell += 1) {
        for (const region of sites.keys()) this.call(region, 1, cell, policy)
        before.push(audits[cell] as CellAudit)
        audits[cell] = cellAudit([plansOf(cell)[policy] as BucketPlan], false, now)
      }
    },
    /** A region reads a peer. The page that it read arrives later, if at all. */
    read(region: number, peer: number): void {
      if (isCut(peer, region) || isCut(region, peer)) return
      bind(escrow(region), escrow(peer))
      queue.push({ to: region, page: escrow(peer).page(at(region).name, 0) })
    },
    deliver(index: number, again: boolean): void {
      const message = queue[index]
      if (message === undefined) return
      if (!again) queue.splice(index, 1)
      escrow(message.to).receive(message.page)
    },
    lose(region: number): void {
      Object.assign(at(region), start(at(region).name, at(region).clock))
    },
    endEra(region: number, version: number, by: readonly number[]): void {
      endEra(escrow(region), { version, weights: new Map(names.map((name, index) => [name, by[index] as number])) })
    },
    /** Every region reads every other one, by cursors. */
    round(): void {
      for (const reader of sites) {
        for (const peer of sites) if (peer !== reader) pull(escrowOf(reader.store), escrowOf(peer.store))
      }
    },
    check(): void {
      for (let cell = 0; cell < cells; cell += 1) {
        let left = 0
        let units = 0
        for (const region of sites.keys()) {
          left += Math.max(...policies.map((policy) => spendable(region, cell, policy)))
          units += at(region).store.unitsOf?.(keyOf(cell, 0)) ?? 0
        }
        mostUnits = Math.max(mostUnits, units)
        audits[cell]?.check(now, left)
      }
    },
    /** Whether all regions are in one era, and together hold all units of each key, or fewer of keys for which there was no room. */
    agree(): boolean {
      const [first] = sites as [Site, ...Site[]]
      const { era, roster } = escrowOf(first.store).region
      const total = [...roster.weights.values()].reduce((sum, weight) => sum + weight, 0)
      if (!sites.every(({ store }) => store.phase === 'open' && store.era === era)) return false
      return audits.every((_, cell) => {
        const held = sites.reduce((sum, { store }) => sum + (store.unitsOf?.(keyOf(cell, 0)) ?? 0), 0)
        const whole = isUndivided(roster, boundOf(cell, 0).whole.burst) ? UNITS : total
        return held === whole || (held < whole && (maxCells < cells || isMixedIn(cell)))
      })
    },
  }
}

export const TOKEN: number = MICRO
