import type { Pseudonym } from './engine/loaded.ts'
import { FUNCTION, requireForm } from './errors/options.ts'
import { createDigester } from './keys/digest.ts'
import { systemRandom } from './time/system.ts'
import type { Random } from './time/time.ts'

/**
 * Creates a keyed hash of 64 bits: a short name for a key. Processes that share its two secret numbers give a key the same name. Without
 * the numbers nobody can find the key.
 * @param random returns secret numbers in [0, 1), of which two are taken. Default: random for each process
 * @throws LimiterError INVALID_OPTIONS
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
