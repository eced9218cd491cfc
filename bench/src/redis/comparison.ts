import { byTwos } from '../by-twos.ts'
import type { ContestantKind } from '../contestants/contestant.ts'
import { type Profile, wrongAnswersOf } from '../profiles.ts'
import type { Floor, Goal, Reading } from '../result/reading.ts'
import { amount } from '../render/cells.ts'
import { figure, percent } from '../render/columns.ts'
import { median, ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { Grant } from './grants.ts'
import { type HandLane, type LaneInput, type LanePlace, sharingOf } from './lane-input.ts'
import type { RedisOptions } from './redis-part.ts'
import { openLane, type RemoteLane } from './remote-lane.ts'
import { type CallersTimed, interleaveLanes, type Round } from './rounds.ts'
import { type Way, wayOf } from './ways.ts'

/**
 * The length of a measured limiter's batch in milliseconds: long compared with a turn of the event loop, short compared with phases of
 * other load on the machine.
 */
const BATCH_MS = 30
/**
 * The factor for batches of lanes (measured limiters) with leases, or with a key for each caller. After a pause such a lane needs time to
 * get its leases again.
 */
const LONGER = 4
/**
 * A lane (a measured limiter) warms up for WARM_UP_MS milliseconds for each second of the comparison, but for MIN_WARM_UP_MS if that is
 * longer. In very short comparisons the warm-up is at most three times as long as the comparison.
 */
const [WARM_UP_MS, MIN_WARM_UP_MS] = [900, 600]

/** The measurements of a lane (a measured limiter), with its audit: the over-grant under a limit that is reached. Floors have no audit. */
export interface Lane extends CallersTimed {
  readonly kind: ContestantKind
  readonly grant: Pick<Grant, 'overGrantPercent'> | undefined
  /** Why there is no audit. */
  readonly notAudited?: string
}

/** Lanes (limiters) that were measured in the same rounds, by the names that the caller gave them. */
export interface Comparison<Name extends string> {
  readonly profile: Profile
  readonly lanes: Readonly<Record<Name, Lane>>
  /** All lanes (measured limiters) with their times, round trips, errors and over-grant. */
  readonly table: Table
}

function holds(input: LaneInput): boolean {
  if ('mixed' in input) return input.mixed === 'leases'
  return 'keys' in input && (input.keys === 'own' || input.way === 'leases' || input.way === 'leases-store')
}

/** Measures lanes (limiters) in the same rounds, each in a process of its own. */
export async function compare<Name extends string>(
  options: RedisOptions,
  profile: Profile,
  issued: Readonly<Record<Name, LaneInput>>,
): Promise<Comparison<Name>> {
  const { seconds, grantOf } = options
  const inputs = Object.values<LaneInput>(issued)
  const opened = await openLanes(options, profile, inputs)
  const timed = await interleaveLanes(opened, seconds, 2)
  for (const lane of opened) await lane.close()
  const known: LaneKnown[] = []
  for (const input of inputs) known.push(await knownOf(input, grantOf))
  return comparisonOf(profile, Object.keys(issued) as Name[], timed, known)
}

/** Opens lanes (measured limiters) under the limit of a profile, each in a process of its own. */
export function openLanes(
  { server, seconds, atEnd }: Pick<RedisOptions, 'server' | 'seconds' | 'atEnd'>,
  { tokens, per, burst }: Profile,
  inputs: readonly LaneInput[],
): Promise<RemoteLane[]> {
  const placeOf = (input: LaneInput, index: number): LanePlace => ({
    url: server.url,
    pid: server.pid,
    batchMs: Math.min(BATCH_MS, seconds * 20) * (holds(input) ? LONGER : 1),
    warmUpMs: Math.max(seconds * WARM_UP_MS, Math.min(MIN_WARM_UP_MS, seconds * 3_000)),
    quota: { tokens, per, burst },
    space: `lane${index}`,
  })
  return byTwos(inputs, (input, index) => openLane(input, placeOf(input, index), { atEnd }))
}

/**
 * The name of the limiter whose over-grant also holds for this lane (a measured limiter). For a policy engine it is the store with the same
 * ring.
 */
function wayNameOf(input: Exclude<LaneInput, HandLane>): Way {
  if ('way' in input) return input.way
  if ('held' in input) return 'sluice'
  return 'mixed' in input ? input.mixed : input.ring
}

/** What is known of a lane (a measured limiter) in addition to its times. */
export type LaneKnown = Pick<Lane, 'kind' | 'grant' | 'notAudited'>

/**
 * Measures the over-grant of a lane (a measured limiter), in a separate run whose limit is reached. As many callers share the key as in the
 * lane, because a caller alone cannot race with others.
 */
export async function knownOf(input: LaneInput, grantOf: RedisOptions['grantOf']): Promise<LaneKnown> {
  if ('byHand' in input)
    return { kind: input.byHand === 'empty' ? 'floor' : 'baseline', grant: undefined, notAudited: 'only the answers are checked' }
  const way = wayNameOf(input)
  const { kind } = wayOf(way)
  return { kind, grant: kind === 'floor' ? undefined : await grantOf(way, { callers: sharingOf(input) }) }
}

/** Makes the comparison of lanes (limiters) that were measured in the same rounds. The first lane is the baseline of the table. */
export function comparisonOf<Name extends string>(
  profile: Profile,
  names: readonly Name[],
  timed: readonly CallersTimed[],
  known: readonly LaneKnown[],
): Comparison<Name> {
  const lanes = names.map((name, index): [Name, Lane] => [name, { ...(timed[index] as CallersTimed), ...(known[index] as LaneKnown) }])
  const table = laneTable(
    profile,
    lanes.map(([, lane]) => lane),
  )
  return { profile, lanes: Object.fromEntries(lanes) as Record<Name, Lane>, table }
}

export interface Judged<Name extends string> {
  readonly name: string
  readonly ours: Name
  readonly baseline: Name
  readonly floor?: Name
  /** `speed`: decisions a second as a multiple of the baseline's. `time`: the time of a decision as a multiple of the baseline's. */
  readonly as: 'speed' | 'time'
  readonly goal?: Goal
}

/** Compares a lane (a measured limiter) with its baseline of the same rounds. */
export function judge<Name extends string>({ profile, lanes }: Comparison<Name>, judged: Judged<Name>): Reading {
  const { name, as } = judged
  const goal = judged.goal === undefined ? {} : { goal: judged.goal }
  const [ours, baseline] = [lanes[judged.ours], lanes[judged.baseline]]
  const ratio = (lane: Lane, of: (round: Round) => number = wallOf): ReturnType<typeof ratiosOf> => {
    const [own, held] = [lane, baseline].map(({ rounds }) => rounds.map(of)) as [number[], number[]]
    return as === 'speed' ? ratiosOf(held, own) : ratiosOf(own, held)
  }
  const spread = ratio(ours)
  const under = judged.floor === undefined ? undefined : lanes[judged.floor]
  const floor: { floor?: Floor } =
    under === undefined ? {} : { floor: { value: ratio(under).median, what: `${under.name}, ${microseconds(under)}` } }
  const { total, allowed, errors } = ours
  return {
    name,
    profile: profile.name,
    unit: 'x',
    value: spread.median,
    spread,
    ...goal,
    ours: `${microseconds(ours)}${errors === 0 ? '' : `, ${percent((errors / total) * 100)} undecided`}`,
    baseline: `${baseline.name} ${microseconds(baseline)}`,
    processor: ratio(ours, processorOf),
    ...floor,
    // A request without an answer is not a wrong answer. The table of lanes (measured limiters) counts it as an error.
    wrongAnswers: wrongAnswersOf(profile, { calls: total - errors, allowed }),
    ...(ours.grant === undefined ? {} : { overGrantPercent: ours.grant.overGrantPercent }),
  }
}

/** The round trips to the server per request of a lane (a measured limiter). */
export function storeCalls<Name extends string>({ lanes, profile }: Comparison<Name>, judged: Omit<Judged<Name>, 'as' | 'floor'>): Reading {
  const { name } = judged
  const goal = judged.goal === undefined ? {} : { goal: judged.goal }
  const [ours, baseline] = [lanes[judged.ours], lanes[judged.baseline]]
  const held = `${baseline.name} ${figure(baseline.storeCalls, 2)}`
  return { name, profile: profile.name, unit: 'calls', value: ours.storeCalls, ...goal, baseline: held }
}

function wallOf({ wall }: Round): number {
  return wall
}

function processorOf({ client, server }: Round): number {
  return client + server
}

function microseconds({ rounds }: Lane): string {
  return amount(median(rounds.map(wallOf)) / 1e3, 'us')
}

const COLUMNS: readonly Column[] = [
  { key: 'callers', title: 'callers' },
  { key: 'time', title: 'a request', unit: 'us' },
  { key: 'ratio', title: 'against the first', unit: 'x' },
  { key: 'client', title: 'cpu client', unit: 'us' },
  { key: 'server', title: 'cpu server', unit: 'us' },
  { key: 'calls', title: 'calls a request', decimals: 3 },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

function laneTable(profile: Profile, lanes: readonly Lane[]): Table {
  const [first] = lanes
  return {
    name: 'lanes',
    title: `all ways, ${profile.name}`,
    columns: COLUMNS,
    rows: lanes.map((lane) => laneRow(profile, lane, first as Lane)),
    rank: { column: 'time', best: 'least' },
    notes: [
      'The column `a request` is the wall time of one measured batch of requests, divided by how many of them were decided. With several callers, requests overlap, so one request takes longer than this time. Medians and quartiles (in parentheses) are those of all measured batches.',
    ],
  }
}

function laneRow(profile: Profile, lane: Lane, first: Lane): Row {
  const { name, kind, rounds, callers, storeCalls: calls, errors, total, allowed, grant, notAudited = 'not requested', disturbed } = lane
  const micros = (of: (round: Round) => number): number[] => rounds.map((round) => of(round) / 1e3)
  const server = median(micros((round) => round.server))
  const cells = {
    callers,
    time: spreadOf(micros(wallOf)),
    ratio: ratiosOf(rounds.map(wallOf), first.rounds.map(wallOf)),
    client: median(micros(({ client }) => client)),
    // Empty if the server's processor time is not known, as for a server of several processes.
    server: server === 0 ? undefined : server,
    calls,
    undecided: (errors / total) * 100,
  }
  const doubt = disturbed === undefined ? {} : { disturbed }
  if (kind === 'floor') return { name, kind, cells, ...doubt }
  const wrongAnswers = wrongAnswersOf(profile, { calls: total - errors, allowed })
  return { name, kind, cells, overGrant: grant?.overGrantPercent ?? { notAudited }, wrongAnswers, ...doubt }
}
