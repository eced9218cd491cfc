import type { Cancel } from './time.ts'

interface Listeners {
  readonly fns: Set<() => void>
  readonly run: () => void
}

const known = new WeakMap<AbortSignal, Listeners>()

/**
 * Runs `fn` when the signal aborts, unless the returned function cancels that before. A signal gets one listener, however many functions
 * wait for it. Thousands of listeners would be slow, and Node.js would warn of a leak. The listener is removed when no function waits any
 * more.
 */
export function onAbort(signal: AbortSignal, fn: () => void): Cancel {
  const listeners = known.get(signal) ?? listened(signal)
  const { fns, run } = listeners
  // A new function for each call of `onAbort`, because callers may pass the same `fn` twice.
  const own = (): void => fn()
  fns.add(own)
  return () => {
    if (!fns.delete(own) || fns.size > 0) return
    signal.removeEventListener('abort', run)
    known.delete(signal)
  }
}

function listened(signal: AbortSignal): Listeners {
  const fns = new Set<() => void>()
  const run = (): void => {
    known.delete(signal)
    // A function that an earlier function cancels does not run, because the iteration skips entries that were deleted.
    for (const fn of fns) {
      fns.delete(fn)
      fn()
    }
  }
  const listeners = { fns, run }
  known.set(signal, listeners)
  signal.addEventListener('abort', run, { once: true })
  return listeners
}
