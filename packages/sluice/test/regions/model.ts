import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import type { Region } from '../../src/regions/rights/roster.ts'
import type { Received } from '../../src/regions/rights/state.ts'
import { createNetwork, type Network } from './network.ts'
import type { Programs } from './site.ts'

/**
 * A value of the Informal Trace Format, in which Quint writes traces. Its integers are numbers here, and its maps are instances of `Map`.
 */
type Value = number | string | boolean | readonly Value[] | Map<Value, Value> | { readonly [name: string]: Value }
type Fields = { readonly [name: string]: Value }

/** A state of the model (regions.qnt): its variables, without the names of the modules. */
export type ModelState = { readonly stores: Map<number, Fields>; readonly last: Step }

interface Step {
  readonly kind: string
  readonly at: number
  readonly peer: number
  readonly amount: number
  readonly tokens: number
}

const REGIONS = [0, 1, 2]
/** As in the model; versions of rosters begin at 1. */
const ROSTERS = [
  [400, 300, 300],
  [900, 100, 0],
  [0, 250, 750],
] as const
/**
 * A token of the model, in micro-tokens: a thousandth of the burst of one token, which is what a unit has. At a rate of one token a day,
 * less than that is refilled during a trace.
 */
const TOKEN = MICRO / 1000
const LIMIT = planOf(1, 86_400, MICRO)

/** The states of a trace that Quint wrote. */
export function statesOf(trace: string): readonly ModelState[] {
  const { states } = JSON.parse(trace) as { states: readonly Record<string, unknown>[] }
  return states.map((state) => {
    const named = Object.entries(state).map(([name, value]) => [name.slice(name.lastIndexOf(':') + 1), plain(value)])
    return Object.fromEntries(named) as ModelState
  })
}

function plain(value: unknown): Value {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value as Value
  const encoded = value as Record<string, unknown>
  if ('#bigint' in encoded) return Number(encoded['#bigint'])
  if ('#map' in encoded) return new Map((encoded['#map'] as [unknown, unknown][]).map(([key, item]) => [plain(key), plain(item)]))
  if ('#tup' in encoded || '#set' in encoded) return plain(encoded['#tup'] ?? encoded['#set'])
  return Object.fromEntries(Object.entries(encoded).map(([name, item]) => [name, plain(item)]))
}

/**
 * Does with the programs what a trace of the model did. After each step yields the state of the model and that of the programs. These are
 * equal if the programs do as the model does. Levels are in tokens of the model.
 */
export function* replay(programs: Programs, trace: readonly ModelState[]): Generator<{ step: Step; model: object[]; code: object[] }> {
  const network = createNetwork({ programs, weights: ROSTERS[0], limits: [LIMIT] })
  // Each region is called once, because the model begins with buckets that have a stored state.
  for (const region of REGIONS) network.call(region, 1)
  for (const region of REGIONS) network.snapshot(region)
  for (const [index, { stores, last }] of trace.entries()) {
    network.wait(1)
    if (index > 0) take(programs, network, last, index)
    // A call above the burst is impossible, but writes the state as of now. Without it, a state might miss more shifts than a store keeps.
    for (const region of REGIONS) network.call(region, MICRO + 1)
    network.check()
    yield { step: last, model: REGIONS.map((region) => ofModel(stores.get(region) as Fields)), code: REGIONS.map(ofCode(network)) }
  }
}

function take(programs: Programs, network: Network, { kind, at, peer, amount, tokens }: Step, index: number): void {
  const first = network.queue.length
  switch (kind) {
    case 'call':
      return void network.call(at, Math.min(amount * TOKEN, network.spendable(at)))
    case 'give':
      return void network.give(at, peer, amount, tokens * TOKEN)
    case 'deliver':
      return void network.deliver(amount, true)
    case 'send':
      return send(network, at, peer)
    case 'read': {
      send(network, at, peer)
      const { length } = network.queue
      for (let arriving = first; arriving < length; arriving += 1)
        if (network.queue[arriving]?.kind !== 'invitation') network.deliver(arriving, true)
      return void network.open(at)
    }
    case 'join': {
      const [guest, host] = [network.site(at), network.site(peer)]
      if (guest.store === undefined || host.store === undefined) throw new Error('no store')
      const greeted = programs.greet(host.store, programs.hello(guest.store, programs.invite(host.store, guest.name)))
      host.store = greeted.store
      if (greeted.answer !== undefined) guest.store = programs.learn(guest.store, greeted.answer)
      return
    }
    case 'close':
      return network.close(at, network.rosterOf(amount + 1, ROSTERS[amount] as readonly number[]))
    case 'open':
      return void network.open(at)
    case 'restart':
      return network.replace(at, index % 2 === 0)
    default:
      throw new Error(`the model did ${kind}`)
  }
}

/** A region reads a peer. If it must first request an invitation of the peer, this request arrives at once. */
function send(network: Network, at: number, peer: number): void {
  network.pull(at, peer)
  const asked = network.queue.findIndex(({ kind }) => kind === 'ask')
  if (asked >= 0) network.deliver(asked)
}

/** A store of the model, in the form that `ofCode` returns: maps by region have no entry for a region with which nothing happened. */
function ofModel({ runId, phase, era, roster, next, cap, units, level, sent, received, bound, joins, answers }: Fields): object {
  const amounts = (map: Value | undefined): object => only(map, (row) => (row as Fields)['units'] !== 0 || (row as Fields)['tokens'] !== 0)
  return {
    run: runId,
    phase,
    era,
    roster,
    next,
    cap,
    units,
    level,
    sent: amounts(sent),
    received: amounts(received),
    bound: only(bound, (run) => run !== 0),
    joins: only(joins, (count) => count !== 0),
    answered: Object.keys(only(answers, () => true)),
  }
}

function only(map: Value | undefined, keep: (value: Value) => boolean): object {
  return Object.fromEntries([...(map as Map<number, Value>)].filter(([, value]) => keep(value)))
}

function ofCode(network: Network): (region: number) => object {
  return (region) => {
    const { store, cells } = network.site(region)
    if (store === undefined) throw new Error(`region ${region} has no store`)
    const kept = cells.get('k0')?.rows
    const rows = kept?.era === store.era ? kept : undefined
    return {
      run: runOf(store.run),
      phase: store.phase,
      era: store.era,
      roster: store.roster.version - 1,
      next: (store.next?.version ?? 0) - 1,
      cap: store.shifts.at(-1)?.units,
      units: network.unitsOf(region),
      level: Math.round(network.spendable(region) / TOKEN),
      sent: byRegion(rows?.sent, amountOf),
      received: byRegion(rows?.received, amountOf),
      bound: byRegion(store.bound, runOf),
      joins: byRegion(store.joins, Number),
      answered: Object.keys(byRegion(store.answers, () => true)),
    }
  }
}

const runOf = (run: string): number => Number(run.slice(run.indexOf('.') + 1))
const amountOf = ({ units, tokens }: Received): object => ({ units, tokens: Math.round(tokens / TOKEN) })

function byRegion<T>(map: ReadonlyMap<Region, T> = new Map<Region, T>(), each: (value: T) => unknown): object {
  return Object.fromEntries([...map].map(([name, value]) => [name.slice(1), each(value)]))
}
