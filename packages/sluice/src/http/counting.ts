import { callObserver } from '../errors/call-observer.ts'
import { type OnWarning, consoleWarning, firstOnly } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { FLAG, type Form, requireForm, shown } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Reservation } from '../limiter/reservation.ts'
import type { GateOptions } from './gate-options.ts'

const FAILURE = 400

const USED: Form = [(value) => typeof value === 'number' && value >= 0 && value < Infinity, 'a number of at least 0, or undefined']

/** The response to a request, when it has ended. */
export interface ResponseEnd {
  /** Undefined if the handler failed and made no response. */
  readonly status: number | undefined
  /** The framework's response. Undefined if the adapter sees no response. */
  readonly response?: unknown
  /** False if the client left while the response was sent. `settle` may be called again when the handler ends the response. */
  readonly whole: boolean
}

/** Charges a request for what it used, once its response has ended. Only the first call that knows the usage counts. Never throws. */
export type Settle = (end: ResponseEnd) => void

export type SettleHold = (actual?: number) => Promise<unknown>

export type Reserved = Pick<Reservation, 'decision' | 'settle'>

export function reservingChecks<Request, Response>({
  holdMs,
}: GateOptions<Request, Response>): (limiter: Limiter) => (key: string, cost: number | undefined) => Promise<Reserved> {
  const held = holdMs === undefined ? {} : { holdMs }
  return (limiter) => (key, cost) => limiter.reserve(key, cost === undefined ? held : { ...held, cost })
}

export function settlements<Request, Response>(options: GateOptions<Request, Response>): (request: Request, settle: SettleHold) => Settle {
  const { countWhen, actualCost } = options
  const warn = warningOf(options.onWarning ?? firstOnly(consoleWarning))
  /** Undefined: what was reserved stays charged. */
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
      // Warns of misuse only. If the store failed or the limiter was closed, the cost stays charged.
      if (error instanceof LimiterError && error.code !== 'CLOSED') warn(error)
    }
    // Until a reservation is settled, it counts as open, even if its cost stays charged.
    if (used === undefined) await settle()
  }
  return (request, settle) => {
    let open = true
    return (end) => {
      // `actualCost` needs a whole response.
      if (!open || (!end.whole && actualCost !== undefined)) return
      open = false
      settleBy(request, end, settle).catch(() => undefined)
    }
  }
}

/** @throws LimiterError INVALID_OPTIONS with the message of the function's error */
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

/** @throws LimiterError INVALID_OPTIONS unless it is true or false: as a condition, even the text 'false' would be true */
function isCounted(value: unknown): boolean {
  requireForm('rateLimit', 'what countWhen returned', value, FLAG)
  return value === true
}

function warningOf(onWarning: OnWarning): (error: Error) => void {
  return ({ message }) => callObserver(onWarning, `NOT_SETTLED: ${message}; what the request has reserved stays charged`)
}
