import { type Profile, wrongAnswersOf } from '../embedded/profiles.ts'
import type { Floor, Goal, Reading } from '../reading.ts'
import { amount } from '../reading-text.ts'
import { figure, percent, table } from '../report.ts'
import { median, ratiosOf } from '../statistics.ts'
import type { Grant } from './grants.ts'
import type { LaneInput } from './lane-input.ts'
import type { RedisOptions } from './redis-part.ts'
import { openLane, type RemoteLane } from './remote-lane.ts'
import { type CallersTimed, interleaveLanes, type Round } from './rounds.ts'
import type { Way } from './ways.ts'

/**
 * How long a lane's batch takes, in milliseconds: long compared with a turn of the event loop, short compared with whatever else the
 * machine does.
 */
const BATCH_MS = 30
/**
 * So much longer is the batch of a lane that holds something, a lease or something for every caller: it takes it up again after each pause.
 */
const LONGER = 4
/** How long each lane runs before, in milliseconds for each second of the comparison. */
const WARM_UP_MS = 900

const FLOORS: readonly Way[] = ['empty-joined', 'clock', 'clock-denied']

/** A lane as it was measured, with the audit of its way; floors and engines have none. */
export interface Lane extends CallersTimed {
  readonly grant: Grant | undefined
}

/** Lanes that were measured side by side, by the caller's names for them. */
export interface Comparison<Name extends string> {
  readonly profile: Profile
  readonly lanes: Readonly<Record<Name, Lane>>
  /** Every lane with its times, trips to the server, errors and over-grant. */
  readonly table: string
}

function holds(input: LaneInput): boolean {
  return 'keys' in input && (input.keys === 'own' || input.way === 'leases' || input.way === 'leases-store')
}

/** Measures lanes side by side, each in a process of its own. */
export async function compare<Name extends string>(
  options: RedisOptions,
  profile: Profile,
  issued: Readonly<Record<Name, LaneInput>>,
): Promise<Comparison<Name>> {
  const { server, seconds, grantOf } = options
  const { tokens, per, burst } = profile
  const inputs = Object.entries<LaneInput>(issued)
  const opened: RemoteLane[] = []
  for (const [index, [, input]] of inputs.entries()) {
    const place = {
      url: server.url,
      pid: server.pid,
      batchMs: Math.min(BATCH_MS, seconds * 20) * (holds(input) ? LONGER : 1),
      warmUpMs: seconds * WARM_UP_MS,
      quota: { tokens, per, burst },
      space: `lane${index}`,
    }
    opened.push(await openLane(input, place, options))
  }
  const timed = await interleaveLanes(opened, seconds, 2)
  for (const lane of opened) await lane.close()
  const grants: (Grant | undefined)[] = []
  for (const [, input] of inputs) grants.push('way' in input && !FLOORS.includes(input.way) ? await grantOf(input.way) : undefined)
  return comparisonOf(profile, Object.keys(issued) as Name[], timed, grants)
}

/** Lanes that were measured side by side, by their names. */
export function comparisonOf<Name extends string>(
  profile: Profile,
  names: readonly Name[],
  timed: readonly CallersTimed[],
  grants: readonly (Grant | undefined)[] = [],
): Comparison<Name> {
  const lanes = names.map((name, index): [Name, Lane] => [name, { ...(timed[index] as CallersTimed), grant: grants[index] }])
  return { profile, lanes: Object.fromEntries(lanes) as Record<Name, Lane>, table: laneTable(lanes.map(([, lane]) => lane)) }
}

export interface Judged<Name extends string> {
  readonly name: string
  readonly ours: Name
  readonly baseline: Name
  readonly floor?: Name
  /** `speed`: decisions a second as a multiple of the baseline's; `time`: the time of one as a multiple of it. */
  readonly as: 'speed' | 'time'
  readonly goal?: Goal
}

/** One lane held against another of the same rounds. */
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
    // A request without an answer is neither: it is counted as an error in the table of lanes.
    wrongAnswers: wrongAnswersOf(profile, { calls: total - errors, allowed }),
    ...(ours.grant === undefined ? {} : { overGrantPercent: ours.grant.overGrantPercent }),
  }
}

/** How many trips to the server a request of this lane took. */
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

function laneTable(lanes: readonly Lane[]): string {
  const heading = ['way', 'callers', 'us/request', 'cpu client', 'cpu server', 'calls/request', 'undecided', 'over-grant']
  const rows = lanes.map(({ name, callers, rounds, storeCalls: calls, errors, total, grant }) => [
    name,
    figure(callers),
    ...(['wall', 'client', 'server'] as const).map((key) => {
      const micros = median(rounds.map((round) => round[key])) / 1e3
      // A server of several processes does not report it.
      return key === 'server' && micros === 0 ? '' : figure(micros, 2)
    }),
    figure(calls, 3),
    percent((errors / total) * 100),
    grant === undefined ? '' : percent(grant.overGrantPercent),
  ])
  return table(heading, rows)
}
