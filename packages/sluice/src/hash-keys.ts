import type { Pseudonym } from './engine/loaded.ts'
import { FUNCTION, requireForm } from './errors/options.ts'
import { createDigester } from './keys/digest.ts'
import { systemRandom } from './time/system.ts'
import type { Random } from './time/time.ts'

/**
 * Creates a keyed hash of 64 bits that gives rate limit keys short names. The secret of the hash is two numbers. Processes that use the
 * same two numbers give a key the same name. Without the numbers nobody can find the key that belongs to a name.
 * @throws LimiterError INVALID_OPTIONS
 * @param random returns unpredictable numbers in [0, 1); two are taken. Default: numbers that only this process has
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
