/** Notifies callers that wait for a slot when one is given back in this process. */
export interface Releases {
  next(key: string): NextRelease
  report(key: string): void
}

export interface NextRelease {
  readonly promise: Promise<void>
  /** The promise may then never settle. */
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
