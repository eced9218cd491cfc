import type { Decision } from '../decision/decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { GateOptions } from './gate-options.ts'

/** The result of checking one request: a decision, or `left` if its client left while the request waited. */
export type Checked = Decision | 'left'

/** The status "client closed request". Only logs show it, because no client gets it. */
export const LEFT_STATUS = 499

/** The defaults of `maxWaitMs` and `maxWaiting` with `onDenied: 'wait'`. */
const [WAIT_MS, WAITING] = [10_000, 1_000]

/** The option `onDenied` if it is a handler of refused requests, otherwise undefined. */
export function handlerOf<Handler>(onDenied: Handler | 'wait' | undefined): Handler | undefined {
  return onDenied === 'wait' ? undefined : onDenied
}

/** The response to a request whose client has left, so nobody gets it. nginx uses the same status for this case. */
export function leftResponse(): Response {
  return new Response(null, { status: LEFT_STATUS })
}

/**
 * Returns a function that lets a request wait for its turn instead of denying it. A gate (`createGate`) calls it in place of a limiter's
 * `check`. A request that would wait too long is decided at once, and so is one that comes when `maxWaiting` requests wait.
 * @param onLeave calls a function when the client of a request leaves
 */
export function waitingChecks<Request, Response>(
  { maxWaitMs = WAIT_MS, maxWaiting = WAITING }: GateOptions<Request, Response>,
  onLeave: ((request: Request, leave: () => void) => () => void) | undefined,
): (limiter: Limiter) => (key: string, cost: number | undefined, request: Request) => Promise<Checked> {
  let waiting = 0
  return (limiter) => async (key, cost, request) => {
    const controller = new AbortController()
    const { signal } = controller
    const stop = onLeave?.(request, () => controller.abort())
    const options = { ...(cost === undefined ? {} : { cost }), maxWaitMs: waiting < maxWaiting ? maxWaitMs : 0, signal }
    waiting += 1
    try {
      return await limiter.wait(key, options)
    } catch (error) {
      if (signal.aborted && error === signal.reason) return 'left'
      throw error
    } finally {
      waiting -= 1
      stop?.()
    }
  }
}
