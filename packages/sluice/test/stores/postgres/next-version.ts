import type { SqlFunction } from '../../../src/stores/postgres/programs.gen.ts'
import { sha256 } from '../../../src/keys/sha256.ts'

/**
 * Functions of a version to come: they say and do the same, by other texts. Each has another name therefore, as it has after any
 * edit.
 */
export function nextFunctions(functions: readonly SqlFunction[]): SqlFunction[] {
  return functions.map(({ name, source }) => {
    const edited = source.replace(/\$\$;\s*$/, () => '-- of the next version\n$$;\n')
    return { name, hash: sha256(edited, 1), source: edited }
  })
}
