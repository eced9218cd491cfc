import { hashTagOf } from 'sluice/redis'

/** The short names of algorithms in keys. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['tb', 'token-bucket'],
  ['fw', 'fixed-window'],
  ['sc', 'sliding-window-counter'],
  ['sl', 'sliding-window-log'],
  ['cc', 'concurrency'],
])

/**
 * A group of Redis keys that are counted together: the keys of one limit, or other keys. `limit` has the names of limiter and limit. For
 * other keys, whose parts may be secrets, it says what kind of keys they are.
 */
export interface KeyGroup {
  readonly limit: string
  readonly algorithm: string
}

/** Records of holds, of all limiters together. */
const HOLDS: KeyGroup = { limit: '(records of holds)', algorithm: '' }
const OTHER: KeyGroup = { limit: '(other keys)', algorithm: '' }
const PACKED: KeyGroup = { limit: '(hashes of the packed layout)', algorithm: '' }
const PACKED_LOGS: KeyGroup = { limit: '(logs of the packed layout)', algorithm: 'sliding-window-log' }
/** PART matches a part of a name as Sluice encodes it. KEY matches a caller's key, or the digest that replaces a long key. */
const PART = String.raw`(?:[\w.@+=,;~!/-]|%[\da-f]{4})+`
const KEY = String.raw`(?:[\w.@+=,;~!/:-]|%[\da-f]{4}){0,200}|#[\da-f]{64}`
const RECORD = /^\{[\w-]{3}\}ho:[\w-]{22}$/
const STATE = new RegExp(String.raw`^\{([\w-]{1,11})\}(${PART}:${PART}):(tb|fw|sc|sl|cc):(${KEY})$`)

/**
 * The group (line of the report) of a Redis key. The hash tag is the part in braces. The names of limiter and limit are shown only if the
 * hash tag is the digest of the caller's key at the end of the name. So nothing is shown of a key of another program, whose parts may be
 * secrets. In the packed layout (many states in one hash) the tag depends on a secret and cannot be checked. So logs in that layout are
 * counted without names.
 * @param name the Redis key without its prefix
 */
export function groupOf(name: string): KeyGroup {
  if (/^\{\d{1,11}\}$/.test(name)) return PACKED
  if (RECORD.test(name)) return HOLDS
  const [, tag, limit = '', algorithm = '', key = ''] = STATE.exec(name) ?? []
  if (tag === undefined) return OTHER
  if (tag === hashTagOf(key)) return { limit, algorithm: ALGORITHMS.get(algorithm) as string }
  return /^\d+$/.test(tag) && algorithm === 'sl' ? PACKED_LOGS : OTHER
}
