import { hash32 } from '../../decision/jitter.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * A key's hash tag: three digits of a public 32-bit hash. All states of one key share it and therefore a Cluster slot. Two keys share it
 * by chance with a probability of one in 262,144. Every slot has tags, 16 on average.
 * @param key as encoded by `encodeKey`, so that other programs can compute the same from its ASCII
 */
export function tagOf(key: string): string {
  const hash = hash32(key)
  return (DIGITS[hash >>> 26] as string) + (DIGITS[(hash >>> 20) & 63] as string) + (DIGITS[(hash >>> 14) & 63] as string)
}

/**
 * A state's name after the prefix: hash tag, scope and encoded key. A state without a scope shares no slot with others, and has no tag.
 */
export function taggedName(name: string, key: string): string {
  return name.length === key.length ? name : `{${tagOf(key)}}${name}`
}
