import type { Glob } from './glob.ts'
import type { Sliced } from './sliced.ts'

interface PathNode<T> {
  readonly literals: Map<string, PathNode<T>>
  any: PathNode<T> | undefined
  /** The next node for `**`; also reached without a segment. */
  deep: PathNode<T> | undefined
  /** Whether this node follows `**`: every segment leads back to it. */
  readonly stays: boolean
  readonly things: Entry<T>[]
  /** The last step that reached this node; avoids duplicates. */
  seen: number
}

interface Entry<T> {
  readonly index: number
  readonly thing: T
}

/** Things without a pattern are always found; the order is kept. */
export function* indexByPath<T>(
  things: readonly T[],
  pathOf: (thing: T) => Glob | undefined,
): Sliced<(segments: readonly string[]) => readonly T[]> {
  const root = nodeOf<T>(false)
  const open: Entry<T>[] = []
  for (const [index, thing] of things.entries()) {
    yield
    const path = pathOf(thing)
    const entry = { index, thing }
    if (path === undefined) open.push(entry)
    else path.segments.reduce(childOf<T>, root).things.push(entry)
  }
  if (open.length === things.length) return () => things
  const step = stepper<T>()
  return (segments) => {
    let at = step([], root, undefined)
    for (const segment of segments) {
      if (at.length === 0) break
      at = step(at, undefined, segment)
    }
    const found = [...open]
    for (const { things: here } of at) found.push(...here)
    return found.sort((a, b) => a.index - b.index).map(({ thing }) => thing)
  }
}

function nodeOf<T>(stays: boolean): PathNode<T> {
  return { literals: new Map(), any: undefined, deep: undefined, stays, things: [], seen: 0 }
}

function childOf<T>(at: PathNode<T>, segment: string): PathNode<T> {
  if (segment === '*') return (at.any ??= nodeOf(false))
  if (segment === '**') return (at.deep ??= nodeOf(true))
  const known = at.literals.get(segment)
  if (known !== undefined) return known
  const next = nodeOf<T>(false)
  at.literals.set(segment, next)
  return next
}

/** Numbered steps need no set of reached nodes. */
function stepper<T>(): (at: readonly PathNode<T>[], start: PathNode<T> | undefined, segment: string | undefined) => readonly PathNode<T>[] {
  let steps = 0
  return (at, start, segment) => {
    steps += 1
    const next: PathNode<T>[] = []
    const reach = (found: PathNode<T> | undefined): void => {
      for (let here = found; here !== undefined && here.seen !== steps; here = here.deep) {
        here.seen = steps
        next.push(here)
      }
    }
    reach(start)
    if (segment === undefined) return next
    for (const here of at) {
      reach(here.literals.get(segment))
      reach(here.any)
      if (here.stays) reach(here)
    }
    return next
  }
}
