import { setTimeout as pause } from 'node:timers/promises'
import { failed, wrongValue } from '../../cli/failure.ts'
import type { Io } from '../../cli/io.ts'
import { wholeNumber } from '../../cli/parse-arguments.ts'
import type { ParsedArguments } from '../../cli/verb.ts'
import type { RegionStatus } from '../../regions/region-status.ts'
import { added, drained, removed } from './weights.ts'

/** Changes of the weights of the regions. */
export const CHANGES = ['add', 'drain', 'remove'] as const
/** Milliseconds to wait for the next era, and between two readings. */
const MAX_WAIT_MS = 60_000
const STEP_MS = 250
/** Milliseconds after which a peer counts as one that is waited for: three pulls. */
const AWAY_MS = 3_000

/** The service of a region. */
export interface RegionService {
  status(): Promise<RegionStatus>
  reweigh(weights: RegionStatus['weights']): Promise<unknown>
}

/**
 * Gives the regions other weights, and waits until the next era has begun. Writes what it waits for.
 * @throws CommandFailure exit 3 for a region that is not known; exit 1 if no era can begin, or none has begun within a minute
 */
export async function changeWeights(service: RegionService, args: ParsedArguments, io: Io): Promise<RegionStatus> {
  const before = await service.status()
  if (before.era === undefined) throw failed('regions: the parts are fixed: change the weights of the policy, and restart each region')
  await service.reweigh(wanted(before.weights, args))
  let said = ''
  for (let waited = 0; waited <= MAX_WAIT_MS; waited += STEP_MS) {
    const status = await service.status()
    if (status.phase === 'open' && (status.era ?? 0) > before.era) return status
    const line = `era ${before.era} ends: ${waitingFor(status)}`
    if (line !== said) io.err(`sluice: regions: ${line}\n`)
    said = line
    await pause(STEP_MS)
  }
  throw failed(`regions: era ${before.era} has not ended within ${MAX_WAIT_MS / 1_000} s; it ends as soon as all regions answer`)
}

function wanted(weights: RegionStatus['weights'], args: ParsedArguments): RegionStatus['weights'] {
  const [action, name] = args.words
  if (name === undefined) throw wrongValue('regions: NAME', name, `one of ${Object.keys(weights).join(', ')}`)
  if (action === 'add') return added(weights, name, wholeNumber(args, 'weight', undefined, 1, 1_000))
  return action === 'drain' ? drained(weights, name) : removed(weights, name)
}

function waitingFor({ peers, weights }: RegionStatus): string {
  const away = Object.entries(peers).filter(([name, { lagMs = Infinity }]) => Object.hasOwn(weights, name) && lagMs > AWAY_MS)
  if (away.length === 0) return 'all regions answer, and end it one after the other'
  return `waits for ${away.map(([name]) => name).join(' and ')}, which cannot be read`
}
