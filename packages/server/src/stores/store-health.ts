import type { Observer } from 'sluice/observe'
import type { BreakerChange } from 'sluice/remote'
import type { StateChange } from '../logs/states.ts'
import { plainWords } from './plain-words.ts'
import { withoutPassword } from './store-name.ts'

export type StoreHealth = ReturnType<typeof followStore>

/** Failures not of the server but of the caller, its queue, another caller's lock, or a full store. */
const NOT_THE_SERVER: ReadonlySet<string> = new Set(['aborted', 'overload', 'contention', 'memory'])
/** Kinds of failures after which the store counts as lost at once. */
const CERTAIN: ReadonlySet<string> = new Set(['connection', 'unavailable', 'readonly', 'setup'])
/** Failures of other kinds in a row after which the store counts as lost too. */
const IN_ROW = 3
/** Milliseconds without a failure before the store counts as back: one of several nodes may still be lost. */
export const QUIET_MS = 1_000

/**
 * The report `back` has the number of decisions made without the store.
 * @param url of the store; its password is not reported
 */
export function followStore(url: string, report: (change: StateChange) => void) {
  const state = { state: 'store', store: withoutPassword(url) } as const
  let [lost, inRow, calls] = [false, 0, 0]
  let quiet: NodeJS.Timeout | undefined
  /** Servers (undefined: the only one) whose breaker is open. While one is open, the store does not count as back. */
  const open = new Set<BreakerChange['lane']>()
  const failed = (kind: string, reason: string): void => {
    if (NOT_THE_SERVER.has(kind)) return
    inRow += 1
    clearTimeout(quiet)
    quiet = undefined
    if (lost || (inRow < IN_ROW && !CERTAIN.has(kind))) return
    lost = true
    report({ ...state, is: 'lost', kind, reason: plainWords(reason, url) })
  }
  const answered = (): void => {
    inRow = 0
    if (!lost) {
      calls = 0
      return
    }
    quiet ??= setTimeout(back, QUIET_MS).unref()
  }
  const back = (): void => {
    quiet = undefined
    if (open.size > 0) return
    report({ ...state, is: 'back', calls, agoMs: QUIET_MS })
    ;[lost, calls] = [false, 0]
  }
  const observer: Observer = {
    onStoreCall: ({ failure, reason = '' }) => (failure === undefined ? answered() : failed(failure, reason)),
    onDecision({ decision: { degraded } }) {
      if (degraded !== undefined && !NOT_THE_SERVER.has(degraded.kind)) calls += 1
    },
  }
  return {
    observer,
    /** @param kind of the StoreFailure */
    failed,
    answered,
    breakerChanged({ state: now, lane, failure }: BreakerChange) {
      if (now === 'open') open.add(lane)
      else open.delete(lane)
      const breaker = { ...state, state: 'breaker', ...(lane === undefined ? {} : { server: String(lane) }) } as const
      if (failure !== undefined) report({ ...breaker, is: 'lost', kind: failure.kind, reason: plainWords(failure.message, url) })
      else if (now === 'closed') report({ ...breaker, is: 'back', calls: 0, agoMs: 0 })
    },
    inWords: (reason: string) => plainWords(reason, url),
  }
}
