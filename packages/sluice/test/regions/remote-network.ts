import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import type { Page } from '../../src/regions/rights/state.ts'
import { spendable, unitsOf } from '../../src/regions/rights/programs.ts'
import { regionalLimit, UNITS } from '../../src/regions/rights/limit.ts'
import { isUndivided, limitOfKey } from '../../src/regions/rights/undivided.ts'
import { regionalLimits } from '../../src/regions/regional-limits.ts'
import type { RegionalStore } from '../../src/regions/regional.ts'
import { remoteRegional } from '../../src/regions/remote/regional.ts'
import { bucketIn } from '../../src/regions/remote/cell.ts'
import { createRemoteEscrow, type RemoteEscrow } from '../../src/regions/remote/escrow.ts'
import { bindRemote, endEraRemote, pullRemote } from '../../src/regions/remote/pull.ts'
import type { RegionPort } from '../../src/stores/region-port.ts'
import type { StateId } from '../../src/stores/store.ts'
import { type CellAudit, cellAudit } from './audit.ts'
import { heldTokens } from './held-tokens.ts'
import { isMixed, sumOf } from './site.ts'
import type { RegionServer } from './remote-servers.ts'
import type { HistoryNetwork, NetworkOptions } from './store-history.ts'
import { TOKEN } from './store-network.ts'

/** True time begins here. */
const START = 1_763_692_800_000_000
const SCOPE = { text: 'limiter:limit:tb:' }

interface Process {
  readonly escrow: RemoteEscrow
  readonly store: RegionalStore
  readonly port: RegionPort
}

/**
 * Regions with a real server each, and a network between them like that of `storeNetwork`. Each region has two processes that decide, and a
 * third one for the audits. A region that is lost comes back as another run of its server: empty, or with what it had when a peer last read
 * it, as from a snapshot.
 */
export async function remoteNetwork(
  servers: readonly RegionServer[],
  weights: readonly number[],
  limits: readonly AnyLimit[],
  { cells, maxCells, offsets, others = limits }: NetworkOptions,
): Promise<HistoryNetwork> {
  const names = weights.map((_, index) => `r${index}`)
  const byName = new Map(names.map((name, index) => [name, weights[index] as number]))
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
  /** By region: what restores the latest one. */
  const snapshots = new Map<number, () => Promise<void>>()
  let now = 0
  let lost = 0
  let turn = 0
  let mostUnits = 0
  /** Called once between the reading and the writing of the next transfer, to change the state in between. */
  let contends: ((id: StateId) => unknown) | undefined
  const serverOf = (region: number): RegionServer => servers[region] as RegionServer
  const timeOf = (region: number): number => START + now + (offsets[region] ?? 0)
  const start = (region: number): Process => {
    const self = names[region] as string
    const store = serverOf(region).open()
    const port = store.capabilities.regions as RegionPort
    const contended: RegionPort = {
      ...port,
      async write(id, found, write, ...rest) {
        const first = write.rows ? contends : undefined
        if (write.rows) contends = undefined
        if (first !== undefined && id !== undefined) await first(id)
        return port.write(id, found, write, ...rest)
      },
    }
    const escrow = createRemoteEscrow(contended, self, { version: 1, weights: byName }, maxCells, () => timeOf(region))
    return { escrow, port, store: remoteRegional(store, escrow, self, byName, regionalLimits(self, byName, true)) }
  }
  await Promise.all(names.map((_, region) => serverOf(region).empty()))
  const sites = names.map((_, region): readonly Process[] => [start(region), start(region), start(region)])
  /** The process for the audits. What it reads does not become known to the processes that decide. */
  const observer = (region: number): RemoteEscrow => sites[region]?.[2]?.escrow as RemoteEscrow
  /** The processes of a region take turns. */
  const at = (region: number): Process => sites[region]?.[(turn += 1) % 2] as Process
  const keyOf = (cell: number, policy: number) => ({ id: { scope: SCOPE, key: `k${cell}` }, limit: limitsOf(cell)[policy] as AnyLimit })
  const isCut = (from: number, to: number): boolean => cuts.has(`${from}>${to}`)
  /** Lets 2 microseconds pass between steps, because a state shows only by its time whether an era ended after it was written. */
  const pass = (): void => void (now += 2)
  const left = async (region: number, cell: number, policy: number): Promise<number> => {
    const limit = limitOfKey(boundOf(cell, policy), keyOf(cell, policy).id)
    const found = await observer(region).read(keyOf(cell, policy).id, limit)
    return spendable(found.region, found.cell, limit, timeOf(region))
  }
  const held = async (region: number, cell: number): Promise<number> => {
    const limit = limitOfKey(boundOf(cell, 0), keyOf(cell, 0).id)
    const found = await observer(region).read(keyOf(cell, 0).id, limit)
    return unitsOf(found.region, found.cell, limit)
  }
  const holds = heldTokens(
    (region) => at(region).store,
    (region) => ({ now: timeOf(region) }),
    keyOf,
    (cell) => ({ audit: audits[cell], now }),
    left,
  )
  const network: HistoryNetwork = {
    ...holds,
    queue,
    cuts,
    get mostUnits() {
      return mostUnits
    },
    get worst() {
      const all = [...before, ...audits]
      return { a: Math.max(...all.map(({ worst }) => worst.a)), b: Math.max(...all.map(({ worst }) => worst.b)) }
    },
    wait(micros) {
      now += micros
    },
    async forget() {
      for (const region of sites.keys()) {
        for (let cell = 0; cell < cells; cell += 1) {
          const { id } = keyOf(cell, 0)
          const { port, store } = at(region)
          const bucket = bucketIn(await port.read(id, timeOf(region)))
          const isExpired = bucket !== undefined && tokenBucketKernel.expiresAt(bucket.plan, bucket) <= timeOf(region)
          if (isExpired) await store.change([{ kind: 'reset', id }], { now: timeOf(region) })
        }
      }
    },
    async call(region, cost, cell = 0, policy = 0) {
      pass()
      const most = await left(region, cell, policy)
      const peek = [{ ...keyOf(cell, policy), cost: 1, phase: 0 }]
      const [peeked] = await at(region).store.decide([{ calls: peek }], { now: timeOf(region), charge: false })
      const remaining = peeked?.calls?.[0]?.remaining
      const wrong = serverOf(region).wrong === true
      if (!wrong && remaining !== Math.floor(most / TOKEN)) throw new Error(`${most} are left, and the program has ${remaining}`)
      const amount = cost ?? (wrong ? (remaining ?? 0) * TOKEN : most)
      if (amount === 0) return 0
      const calls = [{ ...keyOf(cell, policy), cost: amount, phase: 0 }]
      const [verdict] = await at(region).store.decide([{ calls }], { now: timeOf(region) })
      if (verdict?.failure !== undefined) throw verdict.failure
      if (!wrong && cost === undefined && verdict?.outcome !== 'allowed') throw new Error(`${amount} were left, and ${verdict?.outcome}`)
      if (verdict?.outcome !== 'allowed') return 0
      audits[cell]?.admit(now, amount)
      return amount
    },
    async give(region, to, part, cell = 0, policy = 0) {
      pass()
      const units = Math.ceil((await held(region, cell)) * part)
      if (turn % 3 === 0) contends = () => network.call(region, 1, cell, policy)
      return units > 0 && (await at(region).store.remote?.give(keyOf(cell, policy), names[to] as string, units)) === true
    },
    async lend(region, to, part, cell, policy) {
      pass()
      if (turn % 3 === 0) contends = () => network.call(region, 1, cell, policies.at(-1))
      const { id } = keyOf(cell, policy)
      return at(region).escrow.lend(id, boundOf(cell, policy).policy, names[to] as string, ({ units }) => Math.ceil(units * part))
    },
    async settle(policy) {
      policies = [policy]
      for (let cell = 0; cell < cells; cell += 1) {
        // Once in each process.
        for (const region of [...sites.keys()].flatMap((one) => [one, one])) await network.call(region, 1, cell, policy)
        before.push(audits[cell] as CellAudit)
        audits[cell] = cellAudit([plansOf(cell)[policy] as BucketPlan], false, now)
      }
    },
    async read(region, peer) {
      pass()
      if (isCut(peer, region) || isCut(region, peer)) return
      const other = at(peer).escrow
      await bindRemote(at(region).escrow, other)
      queue.push({ to: region, page: await other.page(names[region] as string, 0) })
      snapshots.set(peer, await serverOf(peer).snapshot())
    },
    async deliver(index, again) {
      pass()
      const message = queue[index]
      if (message === undefined) return
      if (!again) queue.splice(index, 1)
      if (turn % 3 === 0) contends = (id) => network.call(message.to, 1, Number(id.key.slice(1)), policies.at(0))
      await at(message.to).escrow.receive(message.page)
    },
    async lose(region) {
      pass()
      await serverOf(region).lose((lost += 1), snapshots.get(region))
    },
    async endEra(region, version, by) {
      pass()
      await endEraRemote(at(region).escrow, { version, weights: new Map(names.map((name, index) => [name, by[index] as number])) })
    },
    async round() {
      for (const reader of sites.keys()) {
        for (const peer of sites.keys()) {
          pass()
          if (peer !== reader) await pullRemote(at(reader).escrow, at(peer).escrow)
        }
      }
    },
    async check() {
      pass()
      for (let cell = 0; cell < cells; cell += 1) {
        let sum = 0
        let units = 0
        for (const region of sites.keys()) {
          sum += Math.max(...(await Promise.all(policies.map((policy) => left(region, cell, policy)))))
          units += await held(region, cell)
        }
        mostUnits = Math.max(mostUnits, units)
        audits[cell]?.check(now, sum)
      }
    },
    async agree() {
      const regions = await Promise.all(sites.map((_, region) => observer(region).refresh()))
      const [first] = regions
      if (first === undefined || !regions.every((region) => region?.phase === 'open' && region.era === first.era)) return false
      const total = [...first.roster.weights.values()].reduce((sum, weight) => sum + weight, 0)
      for (const cell of audits.keys()) {
        const units = await Promise.all(sites.map((_, region) => held(region, cell)))
        const sum = units.reduce((one, other) => one + other)
        const whole = isUndivided(first.roster, boundOf(cell, 0).whole.burst) ? UNITS : total
        if (sum !== whole && !(sum < whole && (maxCells < cells || isMixedIn(cell)))) return false
      }
      return true
    },
  }
  return network
}
