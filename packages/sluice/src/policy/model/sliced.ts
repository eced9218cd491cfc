import type { Time } from '../../time/time.ts'

/** Work that may pause at each `yield`. `finish` runs it without pauses; `inSlices` lets the thread handle other events between slices. */
export type Sliced<T> = Generator<undefined, T, undefined>

export function finish<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Runs the work. After at least `sliceMs` milliseconds it pauses at the next `yield`, and the thread handles other events. */
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

/** Maps each item by sliced work, with a possible pause before each item. Undefined results are left out. */
export function* eachSliced<T, R>(items: Items<T>, map: (item: T) => Sliced<R | undefined>): Sliced<R[]> {
  const found: R[] = []
  for (const item of items ?? []) {
    yield
    const mapped = yield* map(item)
    if (mapped !== undefined) found.push(mapped)
  }
  return found
}

/** As `flatMap`, with a possible pause after each item. */
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
