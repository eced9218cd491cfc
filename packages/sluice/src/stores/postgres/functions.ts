import { sha256 } from '../../keys/sha256.ts'
import { functions as embedded, type SqlFunction } from './programs.gen.ts'

/** A function of this version, and the name under which it is installed. */
export interface InstalledFunction {
  readonly name: string
  readonly create: string
}

/** The installed names of this version's functions, by the names of their files. */
export type FunctionNames = ReadonlyMap<string, string>

const DEFAULT_TABLE = 'sluice'
const NAME = /\bsluice_(\w+)(\()?/g

/**
 * Returns the name under which each function is installed. It ends with a hash of the function's text, in which the names of tables and of
 * called functions are filled in already. So a changed function has another name, and two versions can be installed at once.
 */
export function functionNames(table: string, functions: readonly SqlFunction[] = embedded): FunctionNames {
  if (table === DEFAULT_TABLE) return new Map(functions.map(({ name, hash }) => [name, `sluice_${name}_${hash}`]))
  const names = new Map<string, string>()
  for (const { name, source } of functions) names.set(name, `${table}_${name}_${sha256(named(source, table, names), 1)}`)
  return names
}

export function installedFunctions(table: string, functions: readonly SqlFunction[] = embedded): InstalledFunction[] {
  const names = functionNames(table, functions)
  return functions.map(({ name, source }) => ({ name: names.get(name) as string, create: named(source, table, names) }))
}

/**
 * Fills the installed names of tables and functions into a text. A function that is not in `names` gets the prefix of the tables and the
 * name of its file.
 */
export function named(source: string, table: string, names: FunctionNames): string {
  return source.replaceAll(NAME, (_, name: string, call = '') => `${(call && names.get(name)) || `${table}_${name}`}${call}`)
}
