import type { Time } from '../../time/time.ts'

/** Work that may pause at each `yield`. */
export type Sliced<T> = Generator<undefined, T, undefined>

export function finish<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Pauses after `sliceMs` milliseconds, so that the thread handles other events. */
export async function inSlices<T>(work: Sliced<T>, time: Pick<Time, 'monotonic' | 'after'>, sliceMs: number): Promise<T> {
  for (;;) {
    const until = time.monotonic() + sliceMs
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (time.monotonic() < until)
    await new Promise<void>((resolve) => time.after(0, resolve))
  }
}

type Items<T> = Iterable<T> | undefined

/** May pause before each item. Undefined results are left out. */
export function* eachSliced<T, R>(items: Items<T>, map: (item: T) => Sliced<R | undefined>): Sliced<R[]> {
  const found: R[] = []
  for (const item of items ?? []) {
    yield
    const mapped = yield* map(item)
    if (mapped !== undefined) found.push(mapped)
  }
  return found
}

export function* flatMapSliced<T, R>(items: Items<T>, map: (item: T, index: number) => readonly R[] | R): Sliced<R[]> {
  const found: R[] = []
  let index = 0
  for (const item of items ?? []) {
    const mapped = map(item, index)
    if (Array.isArray(mapped)) for (const one of mapped as readonly R[]) found.push(one)
    else found.push(mapped as R)
    index += 1
    yield
  }
  return found
}
