import { setImmediate as nextTurn } from 'node:timers/promises'

/** The results of callers in a closed loop. */
export interface Load {
  readonly total: number
  readonly allowed: number
  readonly denied: number
  readonly errors: number
  /** The number of errors by message. */
  readonly reasons: ReadonlyMap<string, number>
  /** Milliseconds from before the first request until after the last answer. */
  readonly elapsedMs: number
}

/**
 * Runs callers that call again as soon as they are answered, until `ms` milliseconds have passed. It waits for the requests that are then
 * in flight.
 */
export async function closedLoop(callers: number, ms: number, invoke: (caller: number) => Promise<boolean>): Promise<Load> {
  let [total, allowed, errors] = [0, 0, 0]
  const reasons = new Map<string, number>()
  const started = performance.now()
  const until = started + ms
  const caller = async (index: number): Promise<void> => {
    while (performance.now() < until) {
      total += 1
      try {
        if (await invoke(index)) allowed += 1
      } catch (error) {
        errors += 1
        const message = error instanceof Error ? error.message : String(error)
        reasons.set(message, (reasons.get(message) ?? 0) + 1)
        // Lets other work run. A client that rejects at once would otherwise keep the event loop busy forever.
        await nextTurn()
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  return { total, allowed, denied: total - allowed - errors, errors, reasons, elapsedMs: performance.now() - started }
}
