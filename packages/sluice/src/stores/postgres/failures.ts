import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** Our own SQLSTATEs begin with SL, a class that is left to users. This one: a migration was applied with another text. */
export const TEXT_CHANGED = 'SL001'
/** A state has a kind that this version does not support (raised by the functions). */
const OTHER_KIND = 'SL002'
/** Functions of another version were installed too recently to be dropped. */
export const TOO_YOUNG = 'SL003'
/** Rights of regions in transactions of a stricter isolation level (raised by the functions). */
const ISOLATED = 'SL004'

/**
 * The kind of failure by SQLSTATE or its class; the first entry that fits counts. An error that the server reports has rolled the statement
 * back, so nothing was charged. Class 08, a lost connection, is the exception.
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

/** What to do, by SQLSTATE. */
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

/** Converts a client's error. The call counts as charged unless it is certain that nothing was executed. */
export function classify(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message || codeOf(error) : String(error)
  const code = codeOf(error)
  // Every SQLSTATE has a digit. EPIPE, an error of the socket, has five letters and no digit.
  if (/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) {
    const kind = STATES.find(([prefix]) => code.startsWith(prefix))?.[1]
    const hint = HINTS[code] ?? ''
    const executed = code.startsWith('08') || code === '40003' ? 'unknown' : 'no'
    return new StoreFailure(kind ?? 'protocol', executed, `postgres: ${code} ${message}${hint}`, { cause: error })
  }
  const unsent = NEVER_SENT.test(`${code} ${message}`)
  return new StoreFailure('connection', unsent ? 'no' : 'unknown', `postgres: ${message}`, { cause: error })
}

/** The server aborted the statement because of a conflict (PostgreSQL manual, 13.5), or another process inserted the row first. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '23505', '22012'])

/** Whether to retry: nothing was executed, and a retry may succeed. 22012: a swap of several rows found one of them changed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error))
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreFailure && codeOf(error.cause) === '55P03'
}

/** The `code` of a client's error; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}
