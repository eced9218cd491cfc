import { failed, wrongValue } from '../cli/failure.ts'
import { DEFAULT_URL, serviceCalls } from '../cli/service-calls.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'
import type { RegionStatus } from '../regions/region-status.ts'

const ACTIONS = ['status'] as const

export const regionsVerb: Verb = {
  name: 'regions',
  words: ['ACTION'],
  choices: ACTIONS,
  does: 'the regions that share their limits; ACTION is status: what the region of a running service holds, and how it reaches the others',
  flags: {
    'url URL': `a running service, default ${DEFAULT_URL}`,
    'token-file FILE': "the service's token of administration",
    json: JSON_FLAG,
  },
  examples: ['regions status --token-file ./token', 'regions status --url http://127.0.0.1:8081 --token-file ./token --json'],
  async run(args, io) {
    const [action] = args.words
    if (!ACTIONS.some((name) => name === action)) throw wrongValue('regions: ACTION', action, ACTIONS.join(', '))
    const service = serviceCalls(args.text('url') ?? DEFAULT_URL, args.text('token-file'), args.called('url'))
    const answer = await service.call('GET', service.at('/v1/regions'))
    if (!isStatus(answer)) throw failed(`service ${service.name} sent no status of regions that this version understands`)
    print(io, args, answer, () => textOf(answer))
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

function textOf({ self, mode, weights, phase, era, units, cells, transfers, requestsRefused = 0, peers }: RegionStatus): string[] {
  if (phase === undefined) return [`region ${self}, mode ${mode}: every region keeps its part for good`, '', ...table(weightRows(weights))]
  const { sent, received, unitsSent, unitsReceived } = transfers ?? { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const rows = Object.entries(weights).map(([name, weight]): string[] => {
    const peer = peers[name]
    if (peer === undefined) return [name, String(weight), ...(name === self ? ['this region', '', '', ''] : ['', '', '', ''])]
    return [name, String(weight), peer.address ?? '', secondsText(peer.lagMs), secondsText(peer.readMs), String(peer.failures)]
  })
  const failures = Object.entries(peers).flatMap(([name, { error }]) => (error === undefined ? [] : [`${name} cannot be read: ${error}`]))
  return [
    `region ${self}, era ${era}, ${PHASES[phase] ?? phase}`,
    `  ${units} of 1000 units of a key without transfers; ${cells} keys with transfers in this era`,
    `  since the start: ${unitsSent} units sent in ${sent} transfers, ${unitsReceived} received in ${received}; ${requestsRefused} requests refused`,
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
