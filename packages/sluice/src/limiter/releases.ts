/** Notifies callers that wait for a slot of a key when such a slot is given back in this process. */
export interface Releases {
  /** The next slot of the key that is given back after this call. */
  next(key: string): NextRelease
  /** Call it when a slot of the key was given back. */
  report(key: string): void
}

export interface NextRelease {
  readonly promise: Promise<void>
  /** Stops listening for the slot: the promise may then never settle. */
  cancel(): void
}

export function createReleases(): Releases {
  const waiting = new Map<string, Set<() => void>>()
  return {
    next(key) {
      const known = waiting.get(key) ?? new Set()
      waiting.set(key, known)
      let resolve = (): void => {}
      const promise = new Promise<void>((settle) => (resolve = settle))
      known.add(resolve)
      const cancel = (): void => {
        known.delete(resolve)
        if (known.size === 0 && waiting.get(key) === known) waiting.delete(key)
      }
      return { promise, cancel }
    },
    report(key) {
      const known = waiting.get(key)
      waiting.delete(key)
      for (const resolve of known ?? []) resolve()
    },
  }
}
