import { HOLD_TAG } from '../../algorithms/hold-record.ts'
import { hash32 } from '../../decision/jitter.ts'
import { requireForm, TEXT } from '../../errors/options.ts'
import { DIGITS, shortDigest } from '../../keys/sha256.ts'

const RECORDS = `:${HOLD_TAG}:`

/** 18 bits of a hash without a secret, as three base-64 digits. All states of a key have one tag, and so one Cluster slot. */
export function tagOf(key: string): string {
  // The states of a call and of its hold have one key.
  if (key !== lastKey) lastTag = newTag(key)
  lastKey = key
  return lastTag
}

let [lastKey, lastTag] = ['', newTag('')]

function newTag(key: string): string {
  const hash = hash32(key)
  return (DIGITS[hash >>> 26] as string) + (DIGITS[(hash >>> 20) & 63] as string) + (DIGITS[(hash >>> 14) & 63] as string)
}

/**
 * The hash tag TAG in the Redis keys of the plain layout. These have the form `PREFIX{TAG}LIMITER:LIMIT:ALGORITHM:KEY`, those of holds'
 * records `PREFIX{TAG}ho:DIGEST`.
 * @param key the part KEY of the Redis key, encoded as it is there
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function hashTagOf(key: string): string {
  requireForm('hashTagOf', 'key', key, TEXT)
  return tagOf(key)
}

export function isRecordScope(scope: string): boolean {
  return scope.endsWith(RECORDS)
}

/**
 * The record of a hold has a digest instead of scope and key, to save memory. A state without a scope, which no limiter has, has no tag.
 */
export function taggedName(name: string, key: string): string {
  if (name.length === key.length) return name
  const isRecord = name.startsWith(RECORDS, name.length - key.length - RECORDS.length)
  return `{${tagOf(key)}}${isRecord ? `${HOLD_TAG}:${recordDigest(name)}` : name}`
}

/** A settlement needs the digest that its reservation computed. */
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
