import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** First words of error replies after which nothing was executed, by kind of failure. */
const REPLIES: readonly (readonly [StoreFailureKind, string])[] = [
  ['unavailable', 'LOADING NOSCRIPT BUSY MASTERDOWN CLUSTERDOWN TRYAGAIN MOVED ASK NOREPLICAS UNKILLABLE'],
  ['readonly', 'READONLY MISCONF'],
  ['memory', 'OOM'],
  ['setup', 'NOAUTH WRONGPASS NOPERM DENIED CROSSSLOT'],
]
const KINDS = new Map(REPLIES.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind])))

/** Clients' messages for a command that was never sent. */
const NEVER_SENT =
  /Stream isn't writeable|Cluster isn't ready|None of startup nodes|The client is (offline|closed)|root nodes are unavailable|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connect E(HOST|NET)UNREACH/

/** Errors whose first word does not show their kind. The second is the reply to a long command before authentication. */
const TEXTS: readonly (readonly [RegExp, StoreFailureKind])[] = [
  [/^ERR max number of clients/, 'unavailable'],
  [/^ERR Protocol error: unauthenticated/, 'setup'],
  // Each redirection was a refusal, so nothing was executed.
  [/^Too many Cluster redirections/, 'unavailable'],
]

/** Nothing was charged or written. */
export const NEWER: StoreFailure = new StoreFailure('setup', 'no', 'redis: a newer version wrote this state: update this one')

/** `executed` is 'unknown' unless it is certain that the server executed nothing. */
export function classify(error: unknown): StoreFailure {
  const message = error instanceof Error ? error.message : String(error)
  const kind = KINDS.get(/^[A-Z]+/.exec(message)?.[0] ?? '') ?? TEXTS.find(([text]) => text.test(message))?.[1]
  if (kind !== undefined) return new StoreFailure(kind, 'no', `redis: ${message}`, { cause: error })
  if (/^(ERR|WRONGTYPE)\b/.test(message)) return new StoreFailure('protocol', 'unknown', `redis: ${message}`, { cause: error })
  return new StoreFailure('connection', NEVER_SENT.test(message) ? 'no' : 'unknown', `redis: ${message}`, { cause: error })
}

/** A restart, a failover or SCRIPT FLUSH empties the server's script cache. */
export function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
