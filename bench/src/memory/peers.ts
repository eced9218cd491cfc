import { byTwos } from '../by-twos.ts'
import type { Part, PartOptions } from '../part.ts'
import { type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import { figure } from '../render/columns.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { type ContestantName, contestantOf, NAMES } from './contestants/all.ts'
import { type Grants, peerGrants } from './peer-grants.ts'
import { openPeer } from './peer-lane.ts'
import type { Verdicts } from './plays.ts'
import { type Scenario, SCENARIOS } from './scenarios.ts'

/** The length of a measured limiter's batch in milliseconds, and of its warm-up for each second of the comparison. */
const BATCH_MS = 10
const WARM_UP_MS = 400

/** Compares limiters that run in this process. Each is called as its own middleware calls it, but without HTTP. */
export const peers: Part = {
  name: 'peers',
  title: 'limiters in this process: a plain Map, Sluice and five other libraries',
  async run(options) {
    const grants = await peerGrants(options)
    const tables: Table[] = []
    for (const scenario of SCENARIOS)
      if (options.depth === 'full' || !scenario.fullOnly) tables.push(await compared(scenario, contestantsOf(scenario), grants, options))
    return {
      tables,
      notes: [
        'Each way has a process of its own. `checkSync`, Map and limiter return their answer directly. The others return promises, which the bench awaits, as their middleware does.',
        'rate-limiter-flexible, express-rate-limit, @fastify/rate-limit and hono-rate-limiter count in fixed windows. Over-grant is what passed beyond the way’s own promise. The column `beyond a bucket` compares each way with a token bucket of the same rate and burst.',
        'Over-grant was measured once in the run, on a clock that the bench moves. 40,000 requests came in floods with pauses, under a limit of 100 at once and 1,000 a second. Every interval was compared with the promise. Under the mixed load, over-grant is the tokens that each key got beyond those of an exact limiter.',
      ],
    }
  },
}

/** Measures contestants under a load in the same rounds. The first is the baseline. */
export async function compared(
  scenario: Scenario,
  contestants: readonly ContestantName[],
  grants: Grants,
  options: PartOptions,
): Promise<Table> {
  const { seconds, say, depth } = options
  const keys = scenario.keys[depth]
  say(`${scenario.title}, ${figure(keys)} keys, ${seconds} s`)
  const input = { scenario: scenario.name, keys, batchMs: Math.min(BATCH_MS, seconds * 20), warmUpMs: seconds * WARM_UP_MS }
  const lanes = await byTwos(contestants, (name) => openPeer(name, input, options))
  const timed = await interleaveLanes(lanes, seconds, 2)
  const verdicts: Verdicts[] = []
  for (const lane of lanes) verdicts.push(await lane.close())
  const known = lanes.map(({ contestant }, index) => ({
    contestant,
    timed: timed[index] as CallersTimed,
    verdicts: verdicts[index] as Verdicts,
  }))
  return peersTable(scenario, keys, known, grants)
}

/** Includes the bare table only with many keys, and the other floors only if all answers are `allowed`, because they never deny. */
function contestantsOf({ name, answer }: Scenario): readonly ContestantName[] {
  return NAMES.filter((contestant) => {
    if (contestantOf(contestant).kind !== 'floor') return true
    return contestant === 'bare-table' ? name === 'million' : answer === 'allowed'
  })
}

/** A contestant that was measured under a load. */
export interface PeerMeasured {
  readonly contestant: ContestantName
  readonly timed: CallersTimed
  readonly verdicts: Verdicts
}

const TIMES: readonly Column[] = [
  { key: 'time', title: 'a decision', unit: 'ns' },
  { key: 'ratio', title: 'against the first', unit: 'x' },
  { key: 'cpu', title: 'cpu', unit: 'ns' },
]

/** The first measured contestant is the baseline. */
export function peersTable(
  { name, title, answer, notes }: Scenario,
  keys: number,
  measured: readonly PeerMeasured[],
  grants: Grants,
): Table {
  const last: Column =
    answer === 'mixed' ? { key: 'under', title: 'denied too many', unit: '%' } : { key: 'bucket', title: 'beyond a bucket', unit: '%' }
  const [first] = measured as readonly [PeerMeasured, ...PeerMeasured[]]
  return {
    name,
    title: `${title}${keys > 1 ? `, ${figure(keys)} keys` : ''}`,
    columns: [...TIMES, last],
    rows: measured.map((one) => rowOf(one, first, answer, grants)),
    rank: { column: 'time', best: 'least' },
    ...(notes === undefined ? {} : { notes }),
  }
}

function rowOf({ contestant, timed, verdicts }: PeerMeasured, first: PeerMeasured, answer: Scenario['answer'], grants: Grants): Row {
  const { kind } = contestantOf(contestant)
  const walls = ({ rounds }: CallersTimed): number[] => rounds.map(({ wall }) => wall)
  const grant = grants[contestant]
  const { permitted, over, under } = verdicts
  const own = answer === 'mixed' ? { under: (under / permitted) * 100 } : { bucket: grant?.overBucketPercent }
  const cells = {
    time: spreadOf(walls(timed)),
    ratio: ratiosOf(walls(timed), walls(first.timed)),
    cpu: spreadOf(timed.rounds.map(({ client }) => client)),
    ...own,
  }
  const doubt = timed.disturbed === undefined ? {} : { disturbed: timed.disturbed }
  const { name } = contestantOf(contestant)
  if (kind === 'floor') return { name, kind, cells, ...doubt }
  const audited = grant?.overGrantPercent ?? { notAudited: 'the audit has no figure of it' }
  // Under a load of recorded requests (`mixed`), the right answer of each request is known. So the run itself measures the over-grant.
  const overGrant = answer === 'mixed' ? (over / permitted) * 100 : audited
  return { name, kind, cells, overGrant, wrongAnswers: answer === 'mixed' ? over : over + under, ...doubt }
}
