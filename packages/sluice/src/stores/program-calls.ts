import type { AlgorithmTag, AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { stateName } from '../keys/encode.ts'
import type { CallGroup } from './store.ts'

/** What a store's program can decide, and the order in which it wants the states. */
export interface ProgramForm {
  /** The store's name, for the error. */
  readonly store: string
  readonly tags: readonly AlgorithmTag[]
  readonly order: 'appearance' | 'bytes'
}

/** Groups as a program reads them. */
export interface ProgramCalls {
  /** Each state once. */
  readonly ids: readonly string[]
  /** For each group, call by call: place in `ids` (from 1), cost in micro-tokens, and the plan's numbers. */
  readonly numbers: readonly (readonly number[])[]
}

/**
 * The arguments that stores with a program have in common.
 * @throws LimiterError INVALID_OPTIONS for a limit that the program would take for one of another algorithm
 */
export function programCalls(groups: readonly CallGroup[], form: ProgramForm): ProgramCalls {
  const places = new Map<string, number>()
  for (const { calls } of groups) {
    for (const { id, limit } of calls) {
      if (!form.tags.includes(limit.algorithm.tag)) throw unknown(limit, form)
      const name = stateName(id)
      if (!places.has(name)) places.set(name, places.size + 1)
    }
  }
  const ids = [...places.keys()]
  if (form.order === 'bytes') {
    // Ids are ASCII, so this order is that of their bytes.
    ids.sort().forEach((id, index) => places.set(id, index + 1))
  }
  const numbers = groups.map(({ calls }) =>
    calls.flatMap(({ id, limit, cost }) => [places.get(stateName(id)) as number, cost, ...limit.algorithm.codec.encodePlan(limit.plan)]),
  )
  return { ids, numbers }
}

function unknown({ algorithm }: AnyLimit, { store, tags }: ProgramForm): LimiterError {
  return new LimiterError(
    'INVALID_OPTIONS',
    `${store}: cannot decide a limit of ${algorithm.name} (${algorithm.tag}), only of ${tags.join(', ')}`,
  )
}
