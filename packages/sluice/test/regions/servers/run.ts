import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../../../src/testing/random.ts'
import { until } from '../../faults/until.ts'
import { auditFailover, cutOff, failOver, lose, wantAll } from './faults.ts'
import { startLoad, unrest } from './load.ts'
import { postgresRegion } from './postgres-region.ts'
import { auditAll, phase, type RunRecord, require, tableOf } from './record.ts'
import { type FailingOver, type LosableRedis, redisRegion, type RegionServer, sentinelRegion } from './redis-region.ts'
import { agree, heal, linksOf, openRegions, unitsOf } from './region.ts'

export interface RunOptions {
  /** Seconds of load with random cuts. */
  readonly seconds: number
  readonly seed: number
  /** Of the replicators, in milliseconds. */
  readonly periodMs: number
  /** The programs redis-server and initdb. */
  readonly redis: string
  readonly postgres: string
  /** Functions that stop what the run has started. Call them at the end, the latest first. */
  readonly stops: (() => Promise<void>)[]
}

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']
/** What the links do in the whole run. */
const FAULTS = { delayMs: 20, lost: 0.05, halfClosed: 0.05, repeated: 0.2 }
const UNTIL_MS = 60_000

interface Servers {
  readonly ap: LosableRedis
  readonly eu: FailingOver
  readonly us: LosableRedis
  readonly sa: RegionServer
}

/**
 * Four regions with servers of their own under load, by links with faults: one server is lost and started empty, one is restored from a
 * snapshot, one fails over. Audits what passed. Stops nothing.
 */
export async function run(options: RunOptions): Promise<RunRecord> {
  const { seconds, seed, periodMs, stops } = options
  const random = seeded(seed)
  const servers = await openServers(options)
  const regions = await openRegions(new Map(Object.entries(servers)), periodMs, seeded(seed + 1))
  stops.push(async () => void (await Promise.all([...regions.values()].map((region) => region.close()))))
  const load = startLoad(regions, seed)
  stops.push(() => load.stop())
  const record: RunRecord = {
    regions,
    keys: KEYS,
    load,
    phases: [],
    lines: [],
    problems: [],
    late: [],
    isExcess: () => false,
    failover: undefined,
  }
  for (const [name, { kind }] of Object.entries(servers) as [string, RegionServer][]) record.lines.push(`region ${name}: ${kind}`)
  await phases(record, servers, random, seconds)
  await phase(record, 'without calls', () => settle(record))
  auditAll(record)
  auditFailover(record)
  return record
}

async function openServers({ redis, postgres, stops }: RunOptions): Promise<Servers> {
  const kept = <T extends RegionServer>(server: T): T => {
    stops.push(() => server.stop())
    return server
  }
  // PostgreSQL is started first: its start blocks the event loop, on which the relay to the primary of the Sentinel depends.
  const sa = kept(await postgresRegion(postgres))
  const ap = kept(await redisRegion(redis, false))
  const us = kept(await redisRegion(redis, true))
  return { ap, eu: kept(await sentinelRegion(redis)), us, sa }
}

async function phases(record: RunRecord, { ap, eu, us }: Servers, random: () => number, seconds: number): Promise<void> {
  const { regions, load, keys } = record
  // Each of the other phases takes a tenth of the first one, but at least 1 s and at most 6 s.
  const partMs = Math.min(6, Math.max(1, seconds / 10)) * 1_000
  const open = async (): Promise<void> => until('all regions are open', async () => agree(regions), UNTIL_MS)
  const even = async (): Promise<void> => {
    wantAll(record)
    await pause(partMs)
  }
  for (const { faults } of linksOf(regions)) Object.assign(faults, FAULTS)
  await phase(record, 'start', async () => {
    wantAll(record)
    await open()
  })
  await phase(record, 'random cuts', () => unrest(regions, load, keys, seconds * 1_000, random))
  await phase(record, 'no cuts', even)
  await us.save()
  const names = [...regions.keys()].sort(() => random() - 0.5).slice(0, 2) as [string, string]
  await phase(record, 'two cut off', () => cutOff(record, names, partMs))
  await phase(record, 'no cuts', even)
  await phase(record, 'ap is lost', () => lose(record, 'ap', ap, false, partMs))
  await phase(record, 'no cuts', async () => (await open(), await even()))
  await phase(record, 'us is restored', () => lose(record, 'us', us, true, partMs))
  await phase(record, 'no cuts', async () => (await open(), await even()))
  await phase(record, 'eu fails over', () => failOver(record, 'eu', eu, 2 * partMs))
  await phase(record, 'no cuts', async () => (await open(), await even()))
  await phase(record, 'random cuts', () => unrest(regions, load, keys, partMs, random))
}

/** Ends faults and calls, and requires that all regions then agree, and together hold all units of each key. */
async function settle(record: RunRecord): Promise<void> {
  const { regions, keys, load } = record
  await load.stop()
  heal(regions)
  for (const { faults } of linksOf(regions)) Object.assign(faults, { delayMs: 0, lost: 0, halfClosed: 0, repeated: 0 })
  const began = performance.now()
  let sums: readonly number[] = []
  const isWhole = async (): Promise<boolean> => {
    const held = await Promise.all([...regions.values()].map(async (region) => unitsOf(region, keys)))
    sums = keys.map((_, index) => held.reduce((sum, units) => sum + (units[index] as number), 0))
    return agree(regions) && sums.every((sum) => sum === 1_000)
  }
  const ended = await until('all regions agree', isWhole, UNTIL_MS).then(
    () => true,
    () => false,
  )
  const eras = [...regions].map(([name, { replicator }]) => `${name} ${replicator.status().era} ${replicator.status().phase}`).join(', ')
  const ms = Math.round(performance.now() - began)
  record.lines.push(`after ${ms} ms without faults: ${eras}; units of each key together: ${sums.join(' ')}`)
  require(record, ended, `the regions do not agree, or do not hold 1000 units of each key: ${eras}; ${sums.join(' ')}`)
}

/** What a run has found, as a text. */
export function textOf(record: RunRecord): string {
  const { lines, problems, late } = record
  const found = [...problems, ...late].map((problem) => `PROBLEM: ${problem}`)
  const result = found.length === 0 ? ['no problem'] : found
  return [...lines.slice(0, record.regions.size), '', tableOf(record), '', ...lines.slice(record.regions.size), '', ...result].join('\n')
}
