import type { Pseudonym } from './engine/loaded.ts'
import { FUNCTION, requireForm } from './errors/options.ts'
import { createDigester } from './stores/memory/digest.ts'
import { systemRandom } from './time/system.ts'
import type { Random } from './time/time.ts'

/**
 * Short names for keys, by a keyed hash of 64 bits: the same for the same key in every process that is given the same numbers, and of no
 * use without them.
 * @throws LimiterError INVALID_OPTIONS
 * @param random numbers in [0, 1) that nobody can guess, of which two are taken; default of this process alone
 */
export function hashKeys(random: Random = systemRandom): Pseudonym {
  requireForm('hashKeys', 'random', random, FUNCTION)
  const digester = createDigester(random)
  const seed = digester.seed('names')
  const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0')
  return (text) => {
    digester.digest(seed, text)
    return hex(digester.hi) + hex(digester.lo)
  }
}
