import { hash32 } from '../../decision/jitter.ts'
import { requireForm, TEXT } from '../../errors/options.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * A key's hash tag: three digits of a public 32-bit hash. All states of one key have the same tag and therefore the same Cluster slot. Two
 * keys have the same tag by chance with a probability of one in 262,144. Every slot has tags, 16 on average.
 * @param key as encoded by `encodeKey`; that is ASCII, so that other programs can compute the tag too
 */
export function tagOf(key: string): string {
  const hash = hash32(key)
  return (DIGITS[hash >>> 26] as string) + (DIGITS[(hash >>> 20) & 63] as string) + (DIGITS[(hash >>> 14) & 63] as string)
}

/**
 * The hash tag in the Redis keys of the plain layout, for programs that read them: a key is `PREFIX{TAG}LIMITER:LIMIT:ALGORITHM:KEY`.
 * @param key the part KEY, as it is written there
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function hashTagOf(key: string): string {
  requireForm('hashTagOf', 'key', key, TEXT)
  return tagOf(key)
}

/**
 * A state's name after the prefix: hash tag, scope and encoded key. A state without a scope has no tag, because it need not share a slot.
 * @param name scope and encoded key
 */
export function taggedName(name: string, key: string): string {
  return name.length === key.length ? name : `{${tagOf(key)}}${name}`
}
