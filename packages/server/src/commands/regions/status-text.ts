import { counted } from '../../logs/counted.ts'
import type { RegionStatus } from '../../regions/region-status.ts'

const PHASES: Readonly<Record<string, string>> = {
  learning: 'learning: it holds nothing until all other regions have answered',
  open: 'open: it sends units and receives them',
  closed: 'closed: an era ends, and units neither leave nor arrive until all regions have ended it',
}
const NOT_A_MEMBER = 'open, but not a member: it holds nothing, and denies every call of a token bucket until it is added'

const CUT_OFF = 'cut off: it keeps to its part until it has read all other regions'

export function statusText(status: RegionStatus): string[] {
  const { self, mode, weights, phase, era, units = 0, cells = 0, transfers, requestsRefused = 0, peers } = status
  if (phase === undefined) return [`region ${self}, mode ${mode}: every region keeps its part for good`, '', ...table(weightRows(weights))]
  const counts = mode === 'counters'
  const { sent, received, unitsSent, unitsReceived } = transfers ?? { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const rows = [...new Set([self, ...Object.keys(weights), ...Object.keys(peers)])].sort().map((name): string[] => {
    // A removed region has no weight.
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
          `  ${units} of 1000 units of every token bucket; ${counted(cells, 'key')} with calls that others may have to read; ${counted(requestsRefused, 'request')} refused`,
        ]
      : [
          `region ${self}, era ${era}${stateOf(status)}`,
          `  ${units} of 1000 units of a key without transfers; ${counted(cells, 'key')} with transfers in this era`,
          `  since the start: ${counted(unitsSent, 'unit')} sent in ${counted(sent, 'transfer')}, ${unitsReceived} received in ${received}; ${counted(requestsRefused, 'request')} refused`,
        ]),
    '',
    ...table([['region', 'weight', 'address', 'read', 'reads', 'failed'], ...rows]),
    ...failures,
  ]
}

/** While the region's own store fails, the phase is only the last known one, so the failure is shown instead. */
function stateOf({ self, weights, phase = 'learning', storeFailure }: RegionStatus): string {
  if (storeFailure !== undefined) return `: ${storeFailure}`
  return `, ${phase === 'open' && !Object.hasOwn(weights, self) ? NOT_A_MEMBER : (PHASES[phase] ?? phase)}`
}

function weightRows(weights: RegionStatus['weights']): string[][] {
  return [['region', 'weight'], ...Object.entries(weights).map(([name, weight]) => [name, String(weight)])]
}

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
