import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** A migration was applied before with another text. SQLSTATEs of this library begin with SL, a class that PostgreSQL leaves to users. */
export const TEXT_CHANGED = 'SL001'
/** A state has a kind, a number for its algorithm, that this version does not know. The SQL functions raise this error. */
const OTHER_KIND = 'SL002'
/** Functions of another version were installed too recently to be dropped. */
export const TOO_YOUNG = 'SL003'
/**
 * The shares of a limit that a region holds were used in a transaction with another isolation level than READ COMMITTED. The SQL functions
 * raise this error.
 */
const ISOLATED = 'SL004'

/**
 * The kind of failure for a SQLSTATE or its class; the first entry that fits counts. If the server reports an error, it has rolled the
 * statement back, so nothing was charged. The exception is class 08, a lost connection.
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

/** The end of the error messages for some SQLSTATEs: what the reader can do. */
const MIGRATE = ' (tables or functions of this version are missing: run "sluice migrate --store URL", or migrate() of the store)'
const HINTS: Readonly<Record<string, string>> = {
  '42883': MIGRATE,
  '42P01': MIGRATE,
  '42703': MIGRATE,
  [OTHER_KIND]: ' (a newer version wrote it: update this one)',
  [TOO_YOUNG]: ' (processes of that version would fail: force drops them all the same)',
}

/** Messages of clients for a statement that was never sent. */
const NEVER_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENOENT|timeout exceeded when trying to connect|connection timeout|timeout expired|Cannot use a pool after calling end|CONNECT_TIMEOUT|CONNECTION_ENDED/

/** Converts a client's error. The failure says that the call may have been charged, unless it is certain that nothing was executed. */
export function classify(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message || codeOf(error) : String(error)
  const code = codeOf(error)
  // The code is a SQLSTATE: five digits or capital letters, with at least one digit. EPIPE, an error of the socket, has no digit.
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
 * SQLSTATEs with which the server aborts a statement because of a conflict (PostgreSQL manual, 13.5), or because another process inserted
 * the row first.
 */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '23505', '22012'])

/**
 * Whether another attempt may succeed, because the server aborted the statement and executed nothing. 22012 is a division by zero, with
 * which a write of several rows aborts itself if one of them has changed.
 */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error))
}

/** Whether the statement was refused because of a state of a kind that this version does not know. */
export function isOfOtherKind(error: unknown): boolean {
  return error instanceof StoreFailure && codeOf(error.cause) === OTHER_KIND
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreFailure && codeOf(error.cause) === '55P03'
}

/** The `code` of a client's error; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}
