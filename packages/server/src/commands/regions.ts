import { failed, usage, wrongValue } from '../cli/failure.ts'
import { DEFAULT_URL, serviceCalls } from '../cli/service-calls.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'
import type { WantedEra } from '../regions/begin-era.ts'
import type { RegionStatus } from '../regions/region-status.ts'
import { CHANGES, changeWeights } from './regions/change.ts'

const ACTIONS = ['status', ...CHANGES] as const

export const regionsVerb: Verb = {
  name: 'regions',
  words: ['ACTION', '[NAME]'],
  choices: ACTIONS,
  does: 'the regions that share their limits; ACTION is status, or drain, remove, add or adopt NAME, which change the weights of all',
  flags: {
    'url URL': `the service of any of the regions, default ${DEFAULT_URL}`,
    'token-file FILE': "the service's token of administration",
    'weight N': 'thousandths of every token bucket for the region of add; default as much as the others have on the average',
    'never-runs-again': 'for adopt: the store of the region is gone for good, and none that has its data will ever be started',
    json: JSON_FLAG,
  },
  examples: ['regions status --token-file ./token', 'regions drain us --url http://127.0.0.1:8081 --token-file ./token'],
  async run(args, io) {
    const [action, name] = args.words
    if (!ACTIONS.some((one) => one === action)) throw wrongValue('regions: ACTION', action, ACTIONS.join(', '))
    if (action === 'status' && name !== undefined)
      throw usage(`regions: unexpected ${JSON.stringify(name)}: status is of the whole service`)
    const service = serviceCalls(args.text('url') ?? DEFAULT_URL, args.text('token-file'), args.called('url'))
    const status = async (): Promise<RegionStatus> => {
      const answer = await service.call('GET', service.at('/v1/regions'))
      if (isStatus(answer)) return answer
      throw failed(`service ${service.name} sent no status of regions that this version understands`)
    }
    const reweigh = (wanted: WantedEra): Promise<unknown> => service.call('PUT', service.at('/v1/regions'), wanted)
    const reached = action === 'status' ? await status() : await changeWeights({ status, reweigh }, args, io)
    print(io, args, reached, () => textOf(reached))
  },
}

function isStatus(answer: unknown): answer is RegionStatus {
  const { self, weights, peers } = (answer ?? {}) as Partial<RegionStatus>
  return typeof self === 'string' && isMap(weights) && isMap(peers)
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** What a phase means for an operator. */
const PHASES: Readonly<Record<string, string>> = {
  learning: 'learning: it holds nothing until all other regions have answered',
  open: 'open: it sends units and receives them',
  closed: 'closed: an era ends, and units neither leave nor arrive until all regions have ended it',
}

const CUT_OFF = 'cut off: it keeps to its part until it has read all other regions'

function textOf({ self, mode, weights, phase, era, units, cells, transfers, requestsRefused = 0, peers }: RegionStatus): string[] {
  if (phase === undefined) return [`region ${self}, mode ${mode}: every region keeps its part for good`, '', ...table(weightRows(weights))]
  const counts = mode === 'counters'
  const { sent, received, unitsSent, unitsReceived } = transfers ?? { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const rows = [...new Set([self, ...Object.keys(weights), ...Object.keys(peers)])].sort().map((name): string[] => {
    // A region that was removed has none.
    const weight = String(weights[name] ?? '-')
    const peer = peers[name]
    if (peer === undefined) return [name, weight, 'this region', '', '', '']
    return [name, weight, peer.address ?? '', secondsText(peer.lagMs), secondsText(peer.readMs), String(peer.failures)]
  })
  const failures = Object.entries(peers).flatMap(([name, { error }]) => (error === undefined ? [] : [`${name} cannot be read: ${error}`]))
  return [
    ...(counts
      ? [
          `region ${self}, mode counters, ${phase === 'open' ? 'open: it grants whole token buckets' : CUT_OFF}`,
          `  ${units} of 1000 units of every token bucket; ${cells} keys with calls that others may have to read; ${requestsRefused} requests refused`,
        ]
      : [
          `region ${self}, era ${era}, ${PHASES[phase] ?? phase}`,
          `  ${units} of 1000 units of a key without transfers; ${cells} keys with transfers in this era`,
          `  since the start: ${unitsSent} units sent in ${sent} transfers, ${unitsReceived} received in ${received}; ${requestsRefused} requests refused`,
        ]),
    '',
    ...table([['region', 'weight', 'address', 'read', 'reads', 'failed'], ...rows]),
    ...failures,
  ]
}

function weightRows(weights: RegionStatus['weights']): string[][] {
  return [['region', 'weight'], ...Object.entries(weights).map(([name, weight]) => [name, String(weight)])]
}

/** How long ago: of a peer that was never read, nothing is known. */
function secondsText(ms: number | undefined): string {
  return ms === undefined ? 'never' : `${(ms / 1_000).toFixed(1)} s ago`
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] as number))
      .join('  ')
      .trimEnd(),
  )
}
