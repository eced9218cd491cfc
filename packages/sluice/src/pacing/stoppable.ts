import { onAbort } from '../time/abort-listeners.ts'
import type { Cancel } from '../time/time.ts'

/** The abort reason that ends the generator's wait when its consumer stops. */
const STOPPED: unique symbol = Symbol('sluice: the consumer stopped')

/** Aborts a controller when a signal aborts. The returned function ends this link. */
export function linked(controller: AbortController, signal: AbortSignal | undefined): Cancel {
  if (signal?.aborted === true) controller.abort(signal.reason)
  if (signal === undefined || signal.aborted) return () => {}
  return onAbort(signal, () => controller.abort(signal.reason))
}

/**
 * Returns a generator whose `return` also ends the wait for its next value. Otherwise a consumer that stops would wait until the next turn
 * comes, and that turn would be used for nothing.
 * @param generate makes the generator. The signal that it gets aborts when the consumer stops, or when `signal` aborts
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
