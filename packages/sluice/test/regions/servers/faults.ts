import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../faults/until.ts'
import { type RunRecord, require, requireInTime } from './record.ts'
import type { FailingOver, LosableRedis } from './redis-region.ts'
import { cut, heal, type Process, type Region, unitsOf } from './region.ts'
import { BURST, costOf, nowMicros, overOfKey, RATE } from './trace.ts'

/** A region that is cut off must pass at least this part of the tokens of its share, if its callers want all of them. */
const SERVED = 0.8
/** A lost store must serve again so many milliseconds after its peers have answered. */
const SERVES_MS = 5_000
/** Requests that were under way when a link was cut have ended by then. */
const UNDER_WAY_MS = 1_200
const UNTIL_MS = 60_000

const regionOf = ({ regions }: RunRecord, name: string): Region => regions.get(name) as Region

export function wantAll({ regions, load, keys }: RunRecord): void {
  for (const name of regions.keys()) load.wants.set(name, keys)
}

/**
 * Cuts one region off in both directions, while another one reads nobody but is read. Both go on with their shares.
 * @param milliseconds for how long their calls are counted
 */
export async function cutOff(record: RunRecord, names: readonly [string, string], milliseconds: number): Promise<void> {
  const { regions } = record
  for (const [index, name] of names.entries()) cut(regions, name, { reads: true, isRead: index === 0 })
  // The second region is read by all but the first.
  const link = regions.get(names[0])?.links.get(names[1])
  if (link !== undefined) link.faults.isCut = true
  await pause(UNDER_WAY_MS)
  const parts = names.map((name, index) =>
    servedPart(record, name, index === 0 ? 'cut off both ways' : 'reads nobody, is read', milliseconds),
  )
  await Promise.all(parts)
  heal(regions)
}

/**
 * While no units reach a region: compares the tokens that pass there with what its units allow, or with what its callers attempt, if that
 * is less.
 */
async function servedPart(record: RunRecord, name: string, how: string, milliseconds: number): Promise<void> {
  const { load, keys } = record
  const snapshot = async () => ({
    units: await unitsOf(regionOf(record, name), keys),
    attempted: keys.map((key) => load.attemptedOf(name, key)),
    at: nowMicros(),
  })
  const before = await snapshot()
  await pause(milliseconds)
  const after = await snapshot()
  const seconds = (after.at - before.at) / 1e6
  let [share, expected, most] = [0, 0, 0]
  for (const index of keys.keys()) {
    const [one, other] = [before, after].map(({ units }) => (units[index] as number) / 1_000) as [number, number]
    share += Math.min(one, other) * RATE
    expected += Math.min(Math.min(one, other) * RATE * seconds, (after.attempted[index] as number) - (before.attempted[index] as number))
    most += Math.max(one, other) * (BURST + RATE * seconds)
  }
  const served = costOf(load.passed.filter(({ region, at }) => region === name && at >= before.at && at < after.at))
  const [part, all] = [expected, share * seconds].map((value) => `${((100 * served) / value).toFixed(0)} %`)
  record.lines.push(`region ${name}, ${how}: passes ${all} of its share of ${share.toFixed(0)} tokens/s, ${part} of what is called of it`)
  requireInTime(record, served >= SERVED * expected, `region ${name}, ${how}, passed ${part} of its share`)
  require(record, served <= most, `region ${name}, ${how}, passed ${served} tokens, more than its share`)
}

/** Ends a region's server by SIGKILL, and starts it again, empty or from its snapshot. The other regions go on meanwhile. */
export async function lose(record: RunRecord, name: string, server: LosableRedis, snapshot: boolean, awayMs: number): Promise<void> {
  const { load, keys } = record
  load.wants.delete(name)
  await server.kill()
  const before = load.passed.length
  await pause(awayMs)
  await until(`calls pass without region ${name}`, async () => load.passed.length > before, UNTIL_MS)
  const restarted = performance.now()
  await server.start(snapshot)
  load.wants.set(name, keys)
  const answered = await answeredAt(regionOf(record, name), () => (load.passedAt.get(name) ?? 0) > restarted)
  await until(`region ${name} serves again`, async () => (load.passedAt.get(name) ?? 0) > restarted, UNTIL_MS)
  const served = load.passedAt.get(name) as number
  const ms = served - answered
  const how = snapshot ? 'from its snapshot' : 'empty'
  const since = `${Math.round(served - restarted)} ms after its start`
  record.lines.push(`region ${name}, started ${how}: serves ${Math.round(ms)} ms after its peers' answers, ${since}`)
  requireInTime(record, ms <= SERVES_MS, `region ${name} served ${Math.round(ms)} ms after its peers' answers, expected ${SERVES_MS}`)
}

/** Waits until all peers of a region have answered after its server was lost. Resolves with that instant, by `performance.now()`. */
async function answeredAt({ replicator, name }: Region, serves: () => boolean): Promise<number> {
  const end = performance.now() + UNTIL_MS
  let learning = false
  while (performance.now() < end) {
    const { phase } = replicator.status()
    if (phase === 'learning') learning = true
    else if (learning) return performance.now()
    else if (serves()) throw new Error(`region ${name} served before it was seen to learn`)
    await pause(2)
  }
  throw new Error(`region ${name} has no answers of its peers within ${UNTIL_MS} ms`)
}

/**
 * Has Sentinel promote the replica of a region, while its old primary still answers the second process for some time. Only what the old
 * primary passes may exceed the limit: for each key at most burst + rate * time for the units that it held.
 */
export async function failOver(record: RunRecord, name: string, server: FailingOver, bothMs: number): Promise<void> {
  const { load, keys } = record
  const region = regionOf(record, name)
  const promoted = await server.failOver()
  const units = await unitsOf(region, keys, 1)
  const first = load.passed.length
  const serves = async (): Promise<boolean> =>
    load.passed.slice(first).some((one) => one.region === name && one.process === 0 && one.at > promoted)
  await until('the new primary serves', serves, UNTIL_MS)
  await pause(bothMs)
  const killed = await server.killOld()
  const old = region.processes[1] as Process
  old.gone = true
  const wait = (killed - promoted) / 1e6
  record.isExcess = (one) => one.region === name && one.process === 1 && one.at >= promoted
  record.failover = { name, wait, units: new Map(keys.map((key, index) => [key, units[index] as number])) }
}

/** Audits what was over by the failover. */
export function auditFailover(record: RunRecord): void {
  const { failover, load, isExcess } = record
  if (failover === undefined) return
  const { name, wait, units } = failover
  const found = [...units].map(([key, held]) => {
    const passed = load.passed.filter((one) => one.key === key)
    return { key, held, bound: (held / 1_000) * (BURST + RATE * wait), over: overOfKey(passed), old: costOf(passed.filter(isExcess)) }
  })
  for (const { key, held, bound, over, old } of found) {
    const measured = `bound ${bound.toFixed(1)}, measured ${over.toFixed(1)}, passed by the old primary ${old}`
    record.lines.push(`failover of region ${name}, ${key}: w ${held / 1_000}, ${measured}`)
    require(record, over <= bound, `the failover was ${over} tokens over at ${key}, expected at most ${bound}`)
    require(record, old <= bound, `the old primary passed ${old} tokens of ${key}, expected at most ${bound}`)
  }
  record.lines.push(`failover of region ${name}: both primaries answered for ${wait.toFixed(1)} s`)
}
