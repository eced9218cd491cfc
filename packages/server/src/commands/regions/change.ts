import { setTimeout as pause } from 'node:timers/promises'
import { failed, usage, wrongValue } from '../../cli/failure.ts'
import type { Io } from '../../cli/io.ts'
import { wholeNumber } from '../../cli/parse-arguments.ts'
import type { ParsedArguments } from '../../cli/verb.ts'
import type { WantedEra } from '../../regions/begin-era.ts'
import type { RegionStatus } from '../../regions/region-status.ts'
import { added, drained, removed } from './weights.ts'

export const CHANGES = ['add', 'adopt', 'drain', 'remove'] as const
/** Milliseconds that a change may take, and between two reads of the status. */
const MAX_WAIT_MS = 60_000
const STEP_MS = 250
/** Milliseconds since the last read of a peer after which the peer is named as unreachable. A region reads its peers every second. */
const AWAY_MS = 3_000

export interface RegionService {
  status(): Promise<RegionStatus>
  reweigh(wanted: WantedEra): Promise<unknown>
}

/**
 * Changes the weights, and waits until all regions use them. `adopt` removes a lost region; it and `remove` ignore a non-member.
 * @throws CommandFailure exit 3 for a region that is not known; exit 1 if the weights cannot change, or have not changed within a minute
 */
export async function changeWeights(service: RegionService, args: ParsedArguments, io: Io): Promise<RegionStatus> {
  const before = await service.status()
  if (before.era === undefined) throw failed('regions: the parts are fixed: change the weights of the policy, and restart each region')
  const era = wanted(before, args)
  if (era === undefined) {
    io.err(`sluice: regions: ${args.words[1]} is not a member: it was removed already, or has not been added yet\n`)
    return before
  }
  await service.reweigh(era)
  let said = ''
  for (let waited = 0; waited <= MAX_WAIT_MS; waited += STEP_MS) {
    const status = await service.status()
    if (status.phase === 'open' && (status.era ?? 0) > before.era) return status
    const line = `era ${before.era} ends: ${waitingFor(status, era)}`
    if (line !== said) io.err(`sluice: regions: ${line}\n`)
    said = line
    await pause(STEP_MS)
  }
  throw failed(`regions: era ${before.era} has not ended within ${MAX_WAIT_MS / 1_000} s; it ends as soon as all regions answer`)
}

function wanted({ self, weights, peers }: RegionStatus, args: ParsedArguments): WantedEra | undefined {
  const [action, name] = args.words
  if (name === undefined) throw wrongValue('regions: NAME', name, `one of ${Object.keys(weights).join(', ')}`)
  if (args.switch('never-runs-again') !== (action === 'adopt')) throw usage(NEVER)
  if (action === 'add') return { weights: added(weights, name, wholeNumber(args, 'weight', undefined, 1, 1_000)) }
  const isKnown = name === self || Object.hasOwn(peers, name)
  if (isKnown && !Object.hasOwn(weights, name)) {
    if (action !== 'drain') return undefined
    throw failed(`regions: ${name} is not a member: it was removed, or has not been added yet, and there is nothing to drain`)
  }
  if (action === 'drain') return { weights: drained(weights, name) }
  const others = removed(weights, name)
  if (action === 'remove') return { weights: others }
  const run = peers[name]?.run
  if (run === undefined) throw failed(`regions: this region has never known a store of ${name}: use the service of another region`)
  return { weights: others, gone: { [name]: run } }
}

const NEVER =
  'regions: adopt, and only that, needs --never-runs-again: it says that no store with the data of the region will ever run again. ' +
  'If one does, the regions together admit more than the limit. To stop a region that answers, use remove'

function waitingFor({ peers, weights }: RegionStatus, { gone = {} }: WantedEra): string {
  const isAway = ([name, { lagMs = Infinity }]: [string, { readonly lagMs: number | undefined }]): boolean =>
    Object.hasOwn(weights, name) && !Object.hasOwn(gone, name) && lagMs > AWAY_MS
  const away = Object.entries(peers).filter(isAway)
  if (away.length === 0) return 'all regions answer, and end it one after the other'
  return `waits for ${away.map(([name]) => name).join(' and ')}, which cannot be read`
}
