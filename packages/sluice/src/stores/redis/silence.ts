import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { classify } from './failures.ts'
import type { RedisPort } from './clients/redis-port.ts'

/**
 * Milliseconds without a reply after which a connection is suspect. Up to half is added at random, so that many stores do not act at once.
 */
const SILENT_MS = 300
/** Milliseconds in which a suspect connection may still reply: if this process was busy, replies may be waiting in the socket. */
const LAST_WAIT_MS = 50
/** How often the last wait is repeated if this process was busy. */
const MAX_REPEATS = 5

export interface Watched {
  /** When the first call since the last reply was sent; undefined for none. */
  unansweredSince: number | undefined
  readonly silentMs: number
  suspected: boolean
}

export interface SilenceWatch {
  /** Undefined if the connection is not watched. */
  sent(key: string | undefined): Watched | undefined
  ended(watched: Watched | undefined, error?: unknown): void
}

export const NO_WATCH: SilenceWatch = { sent: () => undefined, ended: () => {} }

/** Replaces connections that give no replies, because TCP may take minutes to report a peer that vanished without a reset. */
export function watchSilence({ connections }: RedisPort, time: Time, random: Random): SilenceWatch {
  if (connections === undefined) return NO_WATCH
  const known = new WeakMap<object, Watched>()
  const silentMs = (): number => SILENT_MS * (1 + random() / 2)
  const watchedAt = (connection: object): Watched => {
    const watched: Watched = known.get(connection) ?? { unansweredSince: undefined, silentMs: silentMs(), suspected: false }
    known.set(connection, watched)
    return watched
  }
  const suspect = (connection: object, watched: Watched): void => {
    if (watched.suspected) return
    watched.suspected = true
    waitForReply(connection, watched, time.monotonic(), MAX_REPEATS)
  }
  const waitForReply = (connection: object, watched: Watched, suspectedAt: MonotonicInstant, more: number): void => {
    const startedAt = time.monotonic()
    time.after(LAST_WAIT_MS, () => {
      // A reply has come since the connection became suspect.
      if (watched.unansweredSince === undefined || watched.unansweredSince >= suspectedAt || known.get(connection) !== watched)
        watched.suspected = false
      // This process was too busy to read, and its calls may have left only now.
      else if (more > 0 && time.monotonic() - startedAt > 2 * LAST_WAIT_MS) waitForReply(connection, watched, suspectedAt, more - 1)
      else {
        // The client uses this object for its new connection too. Late replies on the old one must not count for the new one.
        known.delete(connection)
        connections.replace(connection)
      }
    })
  }
  return {
    sent(key) {
      const connection = connections.of(key)
      if (connection === undefined) return undefined
      const watched = watchedAt(connection)
      const now = time.monotonic()
      if (watched.unansweredSince === undefined) watched.unansweredSince = now
      else if (now - watched.unansweredSince > watched.silentMs) suspect(connection, watched)
      return watched
    },
    ended(watched, error) {
      if (watched === undefined) return
      if (error === undefined || classify(error).kind !== 'connection') watched.unansweredSince = undefined
    },
  }
}
