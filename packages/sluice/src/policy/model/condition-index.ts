import type { Request } from '../../identity/request.ts'
import type { Source } from '../../identity/source.ts'
import { watchUnread } from '../../identity/watch-unread.ts'
import type { Sliced } from './sliced.ts'

/** Without `accepts` and `test`, the condition is: the source's value equals `value`. */
interface Indexable {
  readonly source: Source
  readonly value: string
  readonly accepts?: unknown
  readonly test?: unknown
}

/** Returns all things whose conditions may hold, and perhaps others, in their original order. */
export type FindByCondition<T> = (request: Request) => readonly T[]

/** With fewer things, a linear search is at least as fast. */
const MIN_INDEXED = 8

interface OfSource {
  readonly source: Source
  readonly byValue: Map<string | undefined, number[]>
}

/** The index keeps the time of a request independent of the number of things. */
export function* indexByCondition<T>(things: readonly T[], conditionsOf: (thing: T) => readonly Indexable[]): Sliced<FindByCondition<T>> {
  if (things.length < MIN_INDEXED) return () => things
  const bySource = new Map<string, OfSource>()
  const others: number[] = []
  for (const [index, thing] of things.entries()) {
    yield
    const equality = conditionsOf(thing).find(({ accepts, test }) => accepts === undefined && test === undefined)
    if (equality === undefined) others.push(index)
    else add(bySource, equality, index)
  }
  if (bySource.size === 0) return () => things
  return (request) => {
    const found = [...others]
    const readsUnread = request.unreadable === undefined ? undefined : watchUnread(request)
    for (const { source, byValue } of bySource.values()) {
      if (readsUnread?.((seen) => void [source.read(seen), source.alternatives?.(seen)]) === true) {
        // This source reads an unreadable part of the request, which could have any value. So everything indexed by the source counts as
        // found.
        for (const indexes of byValue.values()) found.push(...indexes)
        continue
      }
      const several = source.alternatives?.(request)
      for (const value of new Set(several ?? [source.read(request)])) found.push(...(byValue.get(value) ?? []))
    }
    return found.sort((a, b) => a - b).map((index) => things[index] as T)
  }
}

function add(bySource: Map<string, OfSource>, { source, value }: Indexable, index: number): void {
  const ofSource = bySource.get(source.text) ?? { source, byValue: new Map<string | undefined, number[]>() }
  bySource.set(source.text, ofSource)
  const ofValue = ofSource.byValue.get(value) ?? []
  ofSource.byValue.set(value, ofValue)
  ofValue.push(index)
}
