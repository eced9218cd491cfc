import { onAbort } from '../time/abort-listeners.ts'
import type { Cancel } from '../time/time.ts'

/** The abort reason when the consumer stops. */
const STOPPED: unique symbol = Symbol('sluice: the consumer stopped')

/** Aborts `controller` when `signal` aborts, until the returned function is called. */
export function linked(controller: AbortController, signal: AbortSignal | undefined): Cancel {
  if (signal?.aborted === true) controller.abort(signal.reason)
  if (signal === undefined || signal.aborted) return () => {}
  return onAbort(signal, () => controller.abort(signal.reason))
}

/**
 * A generator whose `return` also ends the wait for its next value. Otherwise that wait would last until the next turn, and use the turn
 * for nothing.
 */
export function stoppable<Item>(
  generate: (signal: AbortSignal) => AsyncGenerator<Item, void, undefined>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, void, undefined> {
  const controller = new AbortController()
  const generator = untilStopped(generate, controller, signal)
  const end = generator.return.bind(generator)
  return Object.assign(generator, {
    return: (value?: void | PromiseLike<void>) => {
      controller.abort(STOPPED)
      return end(value)
    },
  })
}

async function* untilStopped<Item>(
  generate: (signal: AbortSignal) => AsyncGenerator<Item, void, undefined>,
  controller: AbortController,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, void, undefined> {
  const unlink = linked(controller, signal)
  try {
    controller.signal.throwIfAborted()
    yield* generate(controller.signal)
  } catch (error) {
    if (error !== STOPPED) throw error
  } finally {
    unlink()
  }
}
