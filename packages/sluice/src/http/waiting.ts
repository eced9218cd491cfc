import type { Decision } from '../decision/decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { GateOptions } from './gate-options.ts'

/** `left`: the client left while its request waited. */
export type Checked = Decision | 'left'

/** "Client closed request", as in nginx. Only logs show it, because no client gets it. */
export const LEFT_STATUS = 499

const [WAIT_MS, WAITING] = [10_000, 1_000]

export function handlerOf<Handler>(onDenied: Handler | 'wait' | undefined): Handler | undefined {
  return onDenied === 'wait' ? undefined : onDenied
}

export function leftResponse(): Response {
  return new Response(null, { status: LEFT_STATUS })
}

/** A request that would wait too long is decided at once, and so is one beyond `maxWaiting`. */
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
