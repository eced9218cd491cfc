import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, CLOCK, type Form, FUNCTION, OBJECT, requireForm, within } from '../errors/options.ts'
import { systemRandom, systemTime } from '../time/system.ts'
import { replicateSpend } from './counters/replicate.ts'
import { replicateUnits } from './replicator/escrow-replicate.ts'
import { countersOf, meteringOf } from './regional-store.ts'
import type { ReplicateOptions, Replicator } from './replicator.ts'

type Transport = NonNullable<ReplicateOptions['transport']>

const PERIOD: Form = within(100, 60_000)
const FORMS: Readonly<Record<string, Form>> = {
  store: OBJECT,
  transport: FUNCTION,
  periodMs: PERIOD,
  timeoutMs: PERIOD,
  onError: FUNCTION,
  clock: CLOCK,
  random: FUNCTION,
}
/**
 * With `mode: 'escrow'`: reads what each peer has sent and needs, about once a second, and sends units to peers whose callers need more.
 * Lost, late or repeated messages never make the regions admit more than the limit. With `mode: 'counters'`: reads what each peer has
 * spent. The replicator keeps nothing that must survive a restart.
 * @throws LimiterError INVALID_OPTIONS, NOT_SUPPORTED for a store with `mode: 'fixed'`
 */
export function replicate(options: ReplicateOptions): Replicator {
  checkOptions('replicate', options, FORMS)
  requireForm('replicate', 'store', options.store, OBJECT)
  const { store, transport, periodMs = 1_000, timeoutMs = 5_000, onError, clock = systemTime, random = systemRandom } = options
  const carry = { onError, periodMs, timeoutMs, clock, random }
  const counters = countersOf(store)
  if (counters !== undefined) {
    requireForm('replicate', 'transport', transport, FUNCTION)
    return replicateSpend(store, counters, transport as Transport, carry)
  }
  const metering = meteringOf('replicate', store)
  if (metering.shareNeeds === undefined) requireForm('replicate', 'transport', transport, FUNCTION)
  if (metering.meter !== undefined)
    throw new LimiterError('INVALID_OPTIONS', 'replicate: the store has a replicator already: close it first')
  return replicateUnits(store, metering, { transport, ...carry })
}
