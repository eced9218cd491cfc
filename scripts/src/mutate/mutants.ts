import { parseSync } from 'oxc-parser'
import { luaMutations } from './lua-mutations.ts'
import { type Mutation, mutationsOf } from './mutations.ts'
import { sqlMutations } from './sql-mutations.ts'

/** One change of a source that a test should notice. */
export interface Mutant {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly start: number
  readonly end: number
  /** The text of the changed line, without blanks around it. It identifies the mutant even if the line moves. */
  readonly code: string
  readonly from: string
  readonly to: string
  /** The number of this mutant among equal ones in the file, from 1. */
  readonly nth: number
}

/**
 * Every mutant of a source. Mutants of TypeScript that are not valid programs are left out. Mutants of Lua and SQL are all kept, because
 * only the server finds out, when it tries them, which are valid.
 * @throws Error if a TypeScript source is not a valid program itself
 */
export function mutantsOf(file: string, source: string): Mutant[] {
  const seen = new Map<string, number>()
  return mutationsIn(file, source).map(({ start, end, to }) => {
    const begin = source.lastIndexOf('\n', start - 1) + 1
    const code = source.slice(begin, `${source}\n`.indexOf('\n', start)).trim()
    const line = source.slice(0, start).split('\n').length
    const mutant = { file, line, column: start - begin + 1, start, end, code, from: source.slice(start, end), to }
    const key = keyOf({ ...mutant, nth: 0 })
    const nth = (seen.get(key) ?? 0) + 1
    seen.set(key, nth)
    return { ...mutant, nth }
  })
}

function mutationsIn(file: string, source: string): Mutation[] {
  if (file.endsWith('.lua')) return luaMutations(source)
  if (file.endsWith('.sql')) return sqlMutations(source)
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message ?? 'no program'}`)
  return mutationsOf(program, source).filter(
    ({ start, end, to }) => parseSync(file, source.slice(0, start) + to + source.slice(end)).errors.length === 0,
  )
}

/** The identity of a mutant. It stays the same as long as only other lines of the file change. */
export function keyOf({ file, code, from, to, nth }: Pick<Mutant, 'file' | 'code' | 'from' | 'to' | 'nth'>): string {
  return JSON.stringify([file, code, from, to, nth])
}

export function applied(source: string, { start, end, to }: Mutant): string {
  return source.slice(0, start) + to + source.slice(end)
}
