import { type OnWarning, consoleWarning, firstOnly } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { FLAG, type Form, requireForm, shown } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Reservation } from '../limiter/reservation.ts'
import type { GateOptions } from './gate-options.ts'

/** The least status that says that a request has failed. */
const FAILURE = 400

const USED: Form = [(value) => typeof value === 'number' && value >= 0 && value < Infinity, 'a number of at least 0, or undefined']

/** How the response to a request has ended. */
export interface ResponseEnd {
  /** Its status; undefined if the handler failed and made no response. */
  readonly status: number | undefined
  /** The framework's response, which `countWhen` and `actualCost` get; undefined without one. */
  readonly response?: unknown
  /**
   * Whether the handler has ended it. False: its client left while it was sent. Then a status is known, but not yet what the request used, and
   * `settle` may be called again when the handler ends.
   */
  readonly whole: boolean
}

/** Ends the hold of a request, by its response. Only the first call that can decide has an effect. Never throws. */
export type Settle = (end: ResponseEnd) => void

/** What settles a hold: `settle` of a reservation. */
export type SettleHold = (actual?: number) => Promise<unknown>

/** What a reservation was, for a gate. */
export type Reserved = Pick<Reservation, 'decision' | 'settle'>

/** Returns a function that makes the reservations of a limiter in place of its checks. */
export function reservingChecks<Request, Response>({
  holdMs,
}: GateOptions<Request, Response>): (limiter: Limiter) => (key: string, cost: number | undefined) => Promise<Reserved> {
  const held = holdMs === undefined ? {} : { holdMs }
  return (limiter) => (key, cost) => limiter.reserve(key, cost === undefined ? held : { ...held, cost })
}

/** Returns a function that makes the settlement of one request, by `countWhen` and `actualCost`. */
export function settlements<Request, Response>(options: GateOptions<Request, Response>): (request: Request, settle: SettleHold) => Settle {
  const { countWhen, actualCost } = options
  const warn = warningOf(options.onWarning ?? firstOnly(consoleWarning))
  /** What was used; undefined if what was reserved stays charged. */
  const usedBy = async (request: Request, { status, response }: ResponseEnd): Promise<number | undefined> => {
    if (typeof countWhen !== 'function') {
      const outcome = status !== undefined && status < FAILURE ? 'success' : 'failure'
      if (countWhen !== undefined && countWhen !== outcome) return 0
    } else if (status === undefined || !isCounted(await called('countWhen', countWhen, response as Response, request))) {
      return status === undefined ? undefined : 0
    }
    if (actualCost === undefined || status === undefined) return undefined
    const used = await called('actualCost', actualCost, response as Response, request)
    if (used !== undefined) requireForm('rateLimit', 'what actualCost returned', used, USED)
    return used
  }
  const settleBy = async (request: Request, end: ResponseEnd, settle: SettleHold): Promise<void> => {
    let used: number | undefined
    try {
      used = await usedBy(request, end)
      if (used !== undefined) await settle(used)
    } catch (error) {
      // If the store failed, or the limiter was closed meanwhile, the cost stays charged, and observers have seen the failure.
      if (error instanceof LimiterError && error.code !== 'CLOSED') warn(error)
    }
    // What stays charged is settled, too: until then it counts as an open hold, and keeps its slots.
    if (used === undefined) await settle()
  }
  return (request, settle) => {
    let open = true
    return (end) => {
      // What was used is known only when the handler has ended.
      if (!open || (!end.whole && actualCost !== undefined)) return
      open = false
      settleBy(request, end, settle).catch(() => undefined)
    }
  }
}

/** Calls a function of the options. @throws LimiterError for its error, which belongs to the application and names no mistake of ours */
async function called<Values extends readonly unknown[], Result>(
  name: string,
  run: (...values: Values) => Result | Promise<Result>,
  ...values: Values
): Promise<Result> {
  try {
    return await run(...values)
  } catch (error) {
    throw new LimiterError('INVALID_OPTIONS', `rateLimit: ${name} failed with ${shown(error instanceof Error ? error.message : error)}`)
  }
}

/** @throws LimiterError INVALID_OPTIONS: a text such as 'false' would be true as a condition */
function isCounted(value: unknown): boolean {
  requireForm('rateLimit', 'what countWhen returned', value, FLAG)
  return value === true
}

function warningOf(onWarning: OnWarning): (error: Error) => void {
  return ({ message }) => onWarning(`NOT_SETTLED: ${message}; what the request has reserved stays charged`)
}
