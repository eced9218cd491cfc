import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** The first words of error replies, for each kind of failure. With such a reply the server has executed nothing of the call. */
const REPLIES: readonly (readonly [StoreFailureKind, string])[] = [
  ['unavailable', 'LOADING NOSCRIPT BUSY MASTERDOWN CLUSTERDOWN TRYAGAIN MOVED ASK NOREPLICAS UNKILLABLE'],
  ['readonly', 'READONLY MISCONF'],
  ['memory', 'OOM'],
  ['setup', 'NOAUTH WRONGPASS NOPERM DENIED CROSSSLOT'],
]
const KINDS = new Map(REPLIES.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind])))

/** Messages of clients for a command that was never written to a socket. */
const NEVER_SENT =
  /Stream isn't writeable|Cluster isn't ready|None of startup nodes|The client is (offline|closed)|root nodes are unavailable|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connect E(HOST|NET)UNREACH/

/** Error replies whose kind does not follow from their first word. The second one is the reply to a long command before authentication. */
const TEXTS: readonly (readonly [RegExp, StoreFailureKind])[] = [
  [/^ERR max number of clients/, 'unavailable'],
  [/^ERR Protocol error: unauthenticated/, 'setup'],
  // The client gave up after too many redirections. Each of them was a refusal, so nothing was executed.
  [/^Too many Cluster redirections/, 'unavailable'],
]

/** The failure of a call or a change whose state a newer version of the library wrote. Nothing was charged or written. */
export const NEWER: StoreFailure = new StoreFailure('setup', 'no', 'redis: a newer version wrote this state: update this one')

/**
 * Converts a client's error into a StoreFailure. The failure says that the call may have been charged (`executed: 'unknown'`), unless it is
 * certain that nothing was executed.
 */
export function classify(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message : String(error)
  const kind = KINDS.get(/^[A-Z]+/.exec(message)?.[0] ?? '') ?? TEXTS.find(([text]) => text.test(message))?.[1]
  if (kind !== undefined) return new StoreFailure(kind, 'no', `redis: ${message}`, { cause: error })
  if (/^(ERR|WRONGTYPE)\b/.test(message)) return new StoreFailure('protocol', 'unknown', `redis: ${message}`, { cause: error })
  return new StoreFailure('connection', NEVER_SENT.test(message) ? 'no' : 'unknown', `redis: ${message}`, { cause: error })
}

/** Whether the server does not know the program. A restart, a failover or SCRIPT FLUSH empties its script cache. */
export function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
