import type { Cancel } from './time.ts'

interface Listeners {
  readonly fns: Set<() => void>
  readonly run: () => void
}

const known = new WeakMap<AbortSignal, Listeners>()

/**
 * Runs `fn` when the signal aborts, unless cancelled. One listener serves all functions: thousands would be slow, and Node.js would warn of
 * a leak.
 */
export function onAbort(signal: AbortSignal, fn: () => void): Cancel {
  const listeners = known.get(signal) ?? listened(signal)
  const { fns, run } = listeners
  // Callers may pass the same `fn` twice.
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
    // The iteration skips deleted entries, so a function that an earlier one cancels does not run.
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
