import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** A migration was applied before with another text. PostgreSQL leaves the class SL to users. */
export const TEXT_CHANGED = 'SL001'
/** undefined_table */
export const NO_TABLE = '42P01'
/** insufficient_privilege */
export const NO_RIGHT = '42501'
/** A stored state's `kind` (algorithm) is unknown to this version. */
const OTHER_KIND = 'SL002'
/** Functions of another version were installed too recently to be dropped. */
export const TOO_YOUNG = 'SL003'
/** A region's share of a limit was used in an isolation level other than READ COMMITTED. */
const ISOLATED = 'SL004'

/**
 * By SQLSTATE or the beginning of it; the first match counts. The server rolls failed statements back, so nothing was charged, except
 * perhaps after a lost connection (08).
 */
const STATES: readonly (readonly [string, StoreFailureKind])[] = [
  ['08', 'connection'],
  ['40001', 'contention'],
  ['40P01', 'contention'],
  ['23505', 'contention'],
  ['22012', 'contention'],
  ['55P03', 'contention'],
  ['25006', 'readonly'],
  ['57014', 'timeout'],
  ['57', 'unavailable'],
  ['53300', 'unavailable'],
  ['53', 'memory'],
  ['28', 'setup'],
  ['3D000', 'setup'],
  ['3F000', 'setup'],
  ['42', 'setup'],
  [TEXT_CHANGED, 'setup'],
  [OTHER_KIND, 'setup'],
  [TOO_YOUNG, 'setup'],
  [ISOLATED, 'setup'],
]

const MIGRATE = ' (tables or functions of this version are missing: run "sluice migrate --store URL", or migrate() of the store)'
const HINTS: Readonly<Record<string, string>> = {
  '42883': MIGRATE,
  [NO_TABLE]: MIGRATE,
  '42703': MIGRATE,
  [OTHER_KIND]: ' (a newer version wrote it: update this one)',
  [TOO_YOUNG]: ' (processes of that version would fail: force drops them all the same)',
}

/** Messages of clients for a statement that was never sent. */
const NEVER_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENOENT|timeout exceeded when trying to connect|connection timeout|timeout expired|Cannot use a pool after calling end|CONNECT_TIMEOUT|CONNECTION_ENDED/

/** `executed` is `no` only if that is certain. */
export function classify(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message || codeOf(error) : String(error)
  const code = codeOf(error)
  // A SQLSTATE has at least one digit. EPIPE, an error of the socket, has none.
  if (/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) {
    const kind = STATES.find(([prefix]) => code.startsWith(prefix))?.[1]
    const hint = HINTS[code] ?? ''
    const executed = code.startsWith('08') || code === '40003' ? 'unknown' : 'no'
    return new StoreFailure(kind ?? 'protocol', executed, `postgres: ${code} ${message}${hint}`, { cause: error })
  }
  const unsent = NEVER_SENT.test(`${code} ${message}`)
  return new StoreFailure('connection', unsent ? 'no' : 'unknown', `postgres: ${message}`, { cause: error })
}

/**
 * Conflicts with other transactions (PostgreSQL manual, 13.5). 22012 is the division by zero by which a write of several rows aborts
 * itself.
 */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '23505', '22012'])

/** Whether another attempt may succeed, because the server aborted the statement. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error))
}

export function isOfOtherKind(error: unknown): boolean {
  return error instanceof StoreFailure && codeOf(error.cause) === OTHER_KIND
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreFailure && codeOf(error.cause) === '55P03'
}

/** Empty if the error has none. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}
