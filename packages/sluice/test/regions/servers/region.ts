import { createLimiter, type Limiter } from '../../../src/index.ts'
import {
  type RegionalKey,
  type RegionalStore,
  regionalStore,
  replicate,
  type ReplicateOptions,
  type Replicator,
} from '../../../src/regions.ts'
import { answering, type Link, openLink } from '../http-links.ts'
import type { RegionServer } from './redis-region.ts'
import { limit } from './trace.ts'

/** One process of a region. */
export interface Process {
  readonly store: RegionalStore
  readonly limiter: Limiter
  /** Whether it gets no calls any more. */
  gone: boolean
}

export interface Region {
  readonly name: string
  readonly processes: readonly Process[]
  /** Carries units, in the first process. */
  readonly replicator: Replicator
  /** By which it reads its peers. */
  readonly links: ReadonlyMap<string, Link>
  close(): Promise<void>
}

const keyOf = (key: string): RegionalKey => ({ id: { scope: { text: 'default:default:tb:' }, key }, limit })

/** Opens regions that read each other over relays. @param random draws the faults of the relays */
export async function openRegions(
  servers: ReadonlyMap<string, RegionServer>,
  periodMs: number,
  random: () => number,
): Promise<ReadonlyMap<string, Region>> {
  const regions = new Map<string, Region>()
  const answers = new Map<string, Awaited<ReturnType<typeof answering>>>()
  for (const name of servers.keys()) answers.set(name, await answering(async (request) => regions.get(name)?.replicator.answer(request)))
  for (const [name, server] of servers) {
    const links = new Map<string, Link>()
    for (const [peer, { port }] of answers) if (peer !== name) links.set(peer, await openLink(port, random))
    const transport: ReplicateOptions['transport'] = async (peer, request, signal) => links.get(peer)?.ask(request, signal)
    const processes = server.stores.map((store): Process => {
      const regional = regionalStore({ store, self: name, peers: [...links.keys()], mode: 'escrow' })
      return { store: regional, limiter: createLimiter({ limit, store: regional, onStoreFailure: 'deny', deadlineMs: 2_000 }), gone: false }
    })
    const [first, ...others] = processes as [Process, ...Process[]]
    const replicator = replicate({ store: first.store, transport, periodMs })
    const publishing = others.map(({ store }) => replicate({ store, periodMs }))
    const close = async (): Promise<void> => {
      await Promise.all([replicator, ...publishing].map((one) => one.close()))
      await Promise.all(processes.map(({ limiter }) => limiter.close()))
      await Promise.all([...[...links.values()].map((link) => link.close()), answers.get(name)?.close()])
    }
    regions.set(name, { name, processes, replicator, links, close })
  }
  return regions
}

/** Cuts or mends the links through which a region reads others (`reads`), and those through which others read it (`isRead`). */
export function cut(regions: ReadonlyMap<string, Region>, name: string, how: { reads: boolean; isRead: boolean }): void {
  for (const { name: reader, links } of regions.values())
    for (const [peer, { faults }] of links) {
      if (reader === name) faults.isCut = how.reads
      else if (peer === name) faults.isCut = how.isRead
    }
}

export const linksOf = (regions: ReadonlyMap<string, Region>): readonly Link[] =>
  [...regions.values()].flatMap(({ links }) => [...links.values()])

export function heal(regions: ReadonlyMap<string, Region>): void {
  for (const { faults } of linksOf(regions)) faults.isCut = false
}

/** Whether all regions are open in one era. */
export function agree(regions: ReadonlyMap<string, Region>): boolean {
  const found = [...regions.values()].map(({ replicator }) => replicator.status())
  return found.every(({ phase, era }) => phase === 'open' && era === found[0]?.era)
}

/** What a region holds of each key, in thousandths. */
export async function unitsOf({ processes }: Region, keys: readonly string[], process = 0): Promise<readonly number[]> {
  const { remote } = (processes[process] as Process).store
  return Promise.all(keys.map(async (key) => (await remote?.unitsOf(keyOf(key))) ?? 0))
}
