import type { SqlFunction } from '../../../src/stores/postgres/programs.gen.ts'
import { sha256 } from '../../../src/keys/sha256.ts'

/** Functions of a later version. They do the same as today's, but their texts differ. So each has another name, as after any edit. */
export function nextFunctions(functions: readonly SqlFunction[]): SqlFunction[] {
  return functions.map(({ name, source }) => {
    const edited = source.replace(/\$\$;\s*$/, () => '-- of the next version\n$$;\n')
    return { name, hash: sha256(edited, 1), source: edited }
  })
}
