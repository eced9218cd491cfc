import type { Request } from '../identity/request.ts'
import type { Source } from '../identity/source.ts'

/** What a tier is found by. */
interface Conditional {
  readonly when: readonly {
    readonly source: Source
    readonly value: string
    readonly accepts?: unknown
    readonly test?: unknown
  }[]
}

/** Finds the tiers that may hold for a request, in their order; the others are known not to. */
export type FindTiers<T> = (request: Request) => readonly T[]

/** Fewer than this are tried one after the other at no higher price. */
const MIN_INDEXED = 8

/** Tiers whose first condition of this kind asks one source for one value. */
interface OfSource {
  readonly source: Source
  readonly byValue: Map<string | undefined, number[]>
}

/** Tiers that differ by the value of a source are found by this value: what a request costs does not grow with their number. */
export function indexTiers<T extends Conditional>(tiers: readonly T[]): FindTiers<T> {
  if (tiers.length < MIN_INDEXED) return () => tiers
  const bySource = new Map<string, OfSource>()
  const others: number[] = []
  for (const [index, { when }] of tiers.entries()) {
    const condition = when.find(({ accepts, test }) => accepts === undefined && test === undefined)
    if (condition === undefined) {
      others.push(index)
      continue
    }
    const { source, value } = condition
    const ofSource = bySource.get(source.text) ?? { source, byValue: new Map<string | undefined, number[]>() }
    bySource.set(source.text, ofSource)
    const ofValue = ofSource.byValue.get(value)
    if (ofValue === undefined) ofSource.byValue.set(value, [index])
    else ofValue.push(index)
  }
  return (request) => {
    const found = [...others]
    for (const { source, byValue } of bySource.values()) {
      const several = source.alternatives?.(request)
      if (several === 'any') for (const indexes of byValue.values()) found.push(...indexes)
      else for (const value of new Set(several ?? [source.read(request)])) found.push(...(byValue.get(value) ?? []))
    }
    return found.sort((a, b) => a - b).map((index) => tiers[index] as T)
  }
}
