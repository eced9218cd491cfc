import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, requireForm, shown, TEXT } from '../errors/options.ts'
import type { Call, CallOptions, Change, StateId } from '../stores/store.ts'
import { parsePeriod } from '../time/duration.ts'
import type { Micros } from '../time/micros.ts'
import { requireChange } from './decidable.ts'
import type { KeyCalls } from './key-calls.ts'
import { takesSlots } from './holders.ts'
import type { Limiter, RefundOptions } from './limiter.ts'
import type { Deciders } from './on-failure.ts'
import type { Releases } from './releases.ts'
import { CHECK, REFUND, WAIT, type WaitOptions } from './timing.ts'

export function createChanges(
  where: string,
  { main, local }: Deciders,
  { groupOf }: KeyCalls,
  timing: (options?: WaitOptions) => CallOptions,
  releases: Releases,
): Pick<Limiter, 'refund' | 'penalize' | 'release' | 'block' | 'unblock' | 'reset'> {
  const change = async (changes: readonly Change[], options: CallOptions = timing()): Promise<void> => {
    for (const { kind } of changes) requireChange(where, main.store, kind)
    await main.change(changes, options)
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
  // One blocked state is enough to deny the group.
  const firstOf = (key: string): StateId => (groupOf(key).calls[0] as Call).id
  return {
    refund: (key, options = {}) => adjust(key, 1, options, REFUND),
    penalize: (key, options = {}) => adjust(key, -1, options, CHECK),
    async release(key, holder, options) {
      requireForm(where, 'hold', holder, TEXT)
      if (options !== undefined) refuseUnknown(where, options, WAIT)
      const calls = groupOf(key).calls.filter(({ limit }) => takesSlots(limit))
      if (calls.length === 0) throw new LimiterError('INVALID_OPTIONS', `${where} has no concurrency limit: nothing can be given back`)
      const changes = calls.map((call): Change => ({ kind: 'release', call, holder }))
      try {
        // The local fallback may have granted the slots while the store failed.
        await local?.change(changes, {}).catch(() => undefined)
        await change(changes, timing(options))
      } finally {
        releases.report(key)
      }
    },
    async block(key, duration) {
      const micros = parsePeriod(duration, `${where}: `)
      await change([{ kind: 'block', id: firstOf(key), micros }])
    },
    async unblock(key) {
      // Another version of the program, with other limits or another order of them, may have blocked another state.
      await change(groupOf(key).calls.map(({ id }) => ({ kind: 'unblock', id })))
    },
    async reset(key) {
      // Holders of slots are still at work.
      const calls = groupOf(key).calls.filter(({ limit }) => !takesSlots(limit))
      await change(calls.map(({ id }) => ({ kind: 'reset', id })))
    },
  }
}

function instantOf(where: string, receipt: Pick<Decision, 'atMicros'> | null): Micros {
  const at = receipt?.atMicros
  if (Number.isSafeInteger(at) && (at as Micros) >= 0) return at as Micros
  throw new LimiterError(
    'INVALID_OPTIONS',
    `${where}: receipt.atMicros is ${shown(at)}, expected whole microseconds since 1970: give the decision that charged the call`,
  )
}
