import type { Decision } from '../decision/decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { GateOptions } from './gate-options.ts'

/** What a check of one request results in: `left` if its client left while it waited. */
export type Checked = Decision | 'left'

/** "Client closed request": seen in logs only. */
export const LEFT_STATUS = 499

/** The defaults of `onDenied: 'wait'`. */
const [WAIT_MS, WAITING] = [10_000, 1_000]

/** The handler of refused requests, if the option is one. */
export function handlerOf<Handler>(onDenied: Handler | 'wait' | undefined): Handler | undefined {
  return onDenied === 'wait' ? undefined : onDenied
}

/** A response for nobody. The status is that of nginx for a client that closed its connection. */
export function leftResponse(): Response {
  return new Response(null, { status: LEFT_STATUS })
}

/**
 * Returns a function that makes the check of a limiter: requests wait for their turn instead of being denied. A request that would wait too
 * long, or finds too many that wait, is decided at once.
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
