import { sha256 } from '../../keys/sha256.ts'
import { functions as embedded, type SqlFunction } from './programs.gen.ts'

export interface InstalledFunction {
  readonly name: string
  readonly create: string
}

export type FunctionNames = ReadonlyMap<string, string>

const DEFAULT_TABLE = 'sluice'
const NAME = /\bsluice_(\w+)(\()?/g

/** A name ends with a hash of the function's text and of what it calls, so that two versions can be installed at once. */
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

/** A function that is not in `names` gets the tables' prefix and its file's name. */
export function named(source: string, table: string, names: FunctionNames): string {
  return source.replaceAll(NAME, (_, name: string, call = '') => `${(call && names.get(name)) || `${table}_${name}`}${call}`)
}
