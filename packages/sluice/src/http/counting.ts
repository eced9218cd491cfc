import { type OnWarning, consoleWarning, firstOnly } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { FLAG, type Form, requireForm, shown } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Reservation } from '../limiter/reservation.ts'
import type { GateOptions } from './gate-options.ts'

/** The lowest status that counts as a failure. */
const FAILURE = 400

const USED: Form = [(value) => typeof value === 'number' && value >= 0 && value < Infinity, 'a number of at least 0, or undefined']

/** What is known of a response to a request when it has ended. */
export interface ResponseEnd {
  /** The status of the response; undefined if the handler failed and made no response. */
  readonly status: number | undefined
  /** The framework's response, which is passed to `countWhen` and `actualCost`; undefined if the adapter sees no response. */
  readonly response?: unknown
  /**
   * Whether the handler has ended the response. False if the client left while the response was sent. The status is then known, but not
   * what the request used. `settle` may be called again when the handler ends.
   */
  readonly whole: boolean
}

/**
 * Ends the hold of a request (what it was charged before its response) according to the response. Only the first call that knows what the
 * request used has an effect. Never throws.
 */
export type Settle = (end: ResponseEnd) => void

/** The method `settle` of a reservation, which ends its hold. */
export type SettleHold = (actual?: number) => Promise<unknown>

/** The part of a reservation that a gate uses. */
export type Reserved = Pick<Reservation, 'decision' | 'settle'>

/** Returns a function that makes a reservation for a request. A gate (`createGate`) calls it in place of a limiter's `check`. */
export function reservingChecks<Request, Response>({
  holdMs,
}: GateOptions<Request, Response>): (limiter: Limiter) => (key: string, cost: number | undefined) => Promise<Reserved> {
  const held = holdMs === undefined ? {} : { holdMs }
  return (limiter) => (key, cost) => limiter.reserve(key, cost === undefined ? held : { ...held, cost })
}

/** Returns a function that makes the `Settle` function of one request, according to `countWhen` and `actualCost`. */
export function settlements<Request, Response>(options: GateOptions<Request, Response>): (request: Request, settle: SettleHold) => Settle {
  const { countWhen, actualCost } = options
  const warn = warningOf(options.onWarning ?? firstOnly(consoleWarning))
  /** The tokens that the request used; undefined if what was reserved stays charged. */
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
      // Only misuse causes a warning. If the store failed, or the limiter was closed meanwhile, the cost stays charged, and observers have
      // seen the failure.
      if (error instanceof LimiterError && error.code !== 'CLOSED') warn(error)
    }
    // A hold is settled even if its cost stays charged. Until it is settled, it counts as open, and its slots stay taken.
    if (used === undefined) await settle()
  }
  return (request, settle) => {
    let open = true
    return (end) => {
      // `actualCost` can be called only when the handler has ended the response.
      if (!open || (!end.whole && actualCost !== undefined)) return
      open = false
      settleBy(request, end, settle).catch(() => undefined)
    }
  }
}

/** Calls a function of the options. @throws LimiterError INVALID_OPTIONS with the message of the function's error */
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

/**
 * Checks the result of a `countWhen` function. @throws LimiterError INVALID_OPTIONS unless it is true or false: as a condition, even the
 * text 'false' would be true
 */
function isCounted(value: unknown): boolean {
  requireForm('rateLimit', 'what countWhen returned', value, FLAG)
  return value === true
}

function warningOf(onWarning: OnWarning): (error: Error) => void {
  return ({ message }) => onWarning(`NOT_SETTLED: ${message}; what the request has reserved stays charged`)
}
