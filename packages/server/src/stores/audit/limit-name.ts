import { hashTagOf } from 'sluice/redis'

/** The short names of algorithms in keys. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['tb', 'token-bucket'],
  ['fw', 'fixed-window'],
  ['sc', 'sliding-window-counter'],
  ['sl', 'sliding-window-log'],
  ['cc', 'concurrency'],
])

/** `limit`: the names of limiter and limit, or the kind of the keys if these names are unknown. */
export interface KeyGroup {
  readonly limit: string
  readonly algorithm: string
}

/** Records of holds, of all limiters together. */
const HOLDS: KeyGroup = { limit: '(records of holds)', algorithm: '' }
const OTHER: KeyGroup = { limit: '(other keys)', algorithm: '' }
const PACKED: KeyGroup = { limit: '(hashes of the packed layout)', algorithm: '' }
const PACKED_LOGS: KeyGroup = { limit: '(logs of the packed layout)', algorithm: 'sliding-window-log' }
/** PART: a name as Sluice encodes it. KEY: a caller's key, or the digest that replaces a long key. */
const PART = String.raw`(?:[\w.@+=,;~!/-]|%[\da-f]{4})+`
const KEY = String.raw`(?:[\w.@+=,;~!/:-]|%[\da-f]{4}){0,200}|#[\da-f]{64}`
const RECORD = /^\{[\w-]{3}\}ho:[\w-]{22}$/
const STATE = new RegExp(String.raw`^\{([\w-]{1,11})\}(${PART}:${PART}):(tb|fw|sc|sl|cc):(${KEY})$`)

/**
 * Names of limits are shown only if the hash tag (in braces) is the digest of the caller's key: parts of another program's key may be
 * secrets. In the packed layout (many states in one hash) sliding window logs have only numbers as tags, so they are counted without names.
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
