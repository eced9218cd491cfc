import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import type { CallOptions, Change, StateId } from '../stores/store.ts'
import { parsePeriod } from '../time/duration.ts'
import type { Micros } from '../time/micros.ts'
import type { StoreCaller } from './call-store.ts'
import { requireChange } from './decidable.ts'
import type { KeyCalls } from './key-calls.ts'
import type { Limiter, RefundOptions } from './limiter.ts'
import { CHECK, REFUND, type WaitOptions } from './timing.ts'

/** The verbs of a limiter that change states without a decision. */
export function createChanges(
  where: string,
  main: StoreCaller,
  { groupOf }: KeyCalls,
  timing: (options?: WaitOptions) => CallOptions,
): Pick<Limiter, 'refund' | 'penalize' | 'block' | 'unblock' | 'reset'> {
  /** @throws LimiterError NOT_SUPPORTED if the store does not make changes of this kind */
  const change = (changes: readonly Change[], options: CallOptions = timing()): Promise<void> => {
    for (const { kind } of changes) requireChange(where, main.store, kind)
    return main.change(changes, options)
  }
  const adjust = async (key: string, sign: 1 | -1, adjustment: RefundOptions, known: readonly string[]): Promise<void> => {
    refuseUnknown(where, adjustment, known)
    const { cost, receipt, ...wait } = adjustment
    const at = receipt === undefined ? undefined : instantOf(where, receipt)
    const { calls } = groupOf(key, cost)
    await change(
      calls.map((call) => ({ kind: 'adjust', call, amount: sign * call.cost, receipt: at })),
      timing(wait),
    )
  }
  const idsOf = (key: string): StateId[] => groupOf(key).calls.map(({ id }) => id)
  // The first limit's state carries the block: one is enough to deny the group.
  const firstOf = (key: string): StateId => idsOf(key)[0] as StateId
  return {
    refund: (key, options = {}) => adjust(key, 1, options, REFUND),
    penalize: (key, options = {}) => adjust(key, -1, options, CHECK),
    async block(key, duration) {
      const micros = parsePeriod(duration, `${where}: `)
      await change([{ kind: 'block', id: firstOf(key), micros }])
    },
    async unblock(key) {
      await change([{ kind: 'unblock', id: firstOf(key) }])
    },
    async reset(key) {
      await change(idsOf(key).map((id) => ({ kind: 'reset', id })))
    },
  }
}

/** @throws LimiterError INVALID_OPTIONS if the receipt is not a decision */
function instantOf(where: string, receipt: Pick<Decision, 'atMicros'> | null): Micros {
  const at = receipt?.atMicros
  if (Number.isSafeInteger(at) && (at as Micros) >= 0) return at as Micros
  throw new LimiterError(
    'INVALID_OPTIONS',
    `${where}: receipt.atMicros is ${shown(at)}, expected whole microseconds since 1970: give the decision that charged the call`,
  )
}
