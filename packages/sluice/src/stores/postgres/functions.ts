import { sha256 } from '../../keys/sha256.ts'
import { functions as embedded, type SqlFunction } from './programs.gen.ts'

/** A function as it is installed. */
export interface InstalledFunction {
  readonly name: string
  /** The statement that makes it. */
  readonly create: string
}

/** The names under which the functions of this version are installed, by those of their files. */
export type FunctionNames = ReadonlyMap<string, string>

const DEFAULT_TABLE = 'sluice'
const NAME = /\bsluice_(\w+)(\()?/g

/**
 * Names of functions carry a hash of their text, with the table's name put in, and of what they call: two versions of Sluice live
 * beside each other, and what is edited has another name.
 */
export function functionNames(table: string, functions: readonly SqlFunction[] = embedded): FunctionNames {
  if (table === DEFAULT_TABLE) return new Map(functions.map(({ name, hash }) => [name, `sluice_${name}_${hash}`]))
  const names = new Map<string, string>()
  for (const { name, source } of functions) names.set(name, `${table}_${name}_${sha256(named(source, table, names), 1)}`)
  return names
}

/** In the order in which they are made. */
export function installedFunctions(table: string, functions: readonly SqlFunction[] = embedded): InstalledFunction[] {
  const names = functionNames(table, functions)
  return functions.map(({ name, source }) => ({ name: names.get(name) as string, create: named(source, table, names) }))
}

/** A text with the names of this table and of its functions put in; a function that has no name yet keeps that of its file. */
export function named(source: string, table: string, names: FunctionNames): string {
  return source.replaceAll(NAME, (_, name: string, call = '') => `${(call && names.get(name)) || `${table}_${name}`}${call}`)
}
