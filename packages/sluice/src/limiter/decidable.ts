import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import type { Change, Store } from '../stores/store.ts'

export function requireDecidable(where: string, { name, capabilities }: Store, limit: AnyLimit): void {
  const { algorithm } = limit
  const holds = algorithm.holding === undefined || capabilities.groupOptions?.includes('hold') === true
  if (holds && (capabilities.algorithms?.includes(algorithm.tag) ?? true)) {
    const problem = capabilities.problemOf?.(limit)
    if (problem === undefined) return
    throw new LimiterError('NOT_SUPPORTED', `${where}: ${problem}`)
  }
  throw new LimiterError(
    'NOT_SUPPORTED',
    `${where} is a ${algorithm.name}, which its store (${name}) cannot decide ${capabilities.lacks ?? 'in this version; a plain memoryStore can'}`,
  )
}

export function requireChange(where: string, { name, capabilities }: Store, kind: Change['kind']): void {
  if (capabilities.changes.includes(kind)) return
  throw new LimiterError('NOT_SUPPORTED', `${where}: its store (${name}) cannot ${kind} keys ${capabilities.lacks ?? 'in this version'}`)
}
