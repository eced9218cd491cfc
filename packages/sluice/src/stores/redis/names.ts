import { HOLD_TAG } from '../../algorithms/hold-record.ts'
import { hash32 } from '../../decision/jitter.ts'
import { requireForm, TEXT } from '../../errors/options.ts'
import { DIGITS, shortDigest } from '../../keys/sha256.ts'

/** The end of scopes of hold records. */
const RECORDS = `:${HOLD_TAG}:`

/**
 * A key's hash tag: three digits (base 64, so 18 bits) of a hash without a secret. All states of one key have the same tag and therefore
 * the same Cluster slot. Two keys have the same tag by chance with a probability of one in 262,144. Each slot has some tags, 16 on average.
 * @param key as encoded by `encodeKey`: ASCII text, so that programs of others can compute the tag too
 */
export function tagOf(key: string): string {
  // The last tag is cached, because the states of a call and of its hold have one key.
  if (key !== lastKey) lastTag = newTag(key)
  lastKey = key
  return lastTag
}

/** The previous key and its tag. */
let [lastKey, lastTag] = ['', newTag('')]

function newTag(key: string): string {
  const hash = hash32(key)
  return (DIGITS[hash >>> 26] as string) + (DIGITS[(hash >>> 20) & 63] as string) + (DIGITS[(hash >>> 14) & 63] as string)
}

/**
 * The hash tag in the Redis keys of the plain layout, for programs that read the states. The form of a Redis key is
 * `PREFIX{TAG}LIMITER:LIMIT:ALGORITHM:KEY`, and that of a hold's record `PREFIX{TAG}ho:DIGEST`.
 * @param key the part KEY of the Redis key, encoded as it is there
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function hashTagOf(key: string): string {
  requireForm('hashTagOf', 'key', key, TEXT)
  return tagOf(key)
}

/** Whether a state is the record of a hold. @param scope the text of its scope */
export function isRecordScope(scope: string): boolean {
  return scope.endsWith(RECORDS)
}

/**
 * A state's name after the prefix: hash tag, scope and encoded key. In the name of a hold's record, a digest replaces scope and key,
 * because ids are long and nobody reads them. So a record takes less memory. A state without a scope has no tag: no limiter has such a
 * state, so it need not share a slot with other states of its key.
 * @param name scope (the text that names limiter, algorithm and limit) and encoded key
 */
export function taggedName(name: string, key: string): string {
  if (name.length === key.length) return name
  const isRecord = name.startsWith(RECORDS, name.length - key.length - RECORDS.length)
  return `{${tagOf(key)}}${isRecord ? `${HOLD_TAG}:${recordDigest(name)}` : name}`
}

/** Cache of the digests of records. A settlement needs the digest that its reservation computed. */
let digests = new Map<string, string>()
const MAX_DIGESTS = 1_000

function recordDigest(name: string): string {
  const known = digests.get(name)
  if (known !== undefined) return known
  const digest = shortDigest(name)
  if (digests.size >= MAX_DIGESTS) digests = new Map()
  digests.set(name, digest)
  return digest
}
