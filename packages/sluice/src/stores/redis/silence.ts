import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { classify } from './failures.ts'
import type { RedisPort } from './clients/redis-port.ts'

/** Milliseconds without any reply after which a connection is suspect. A random time of up to half of this is added. */
const SILENT_MS = 300
/**
 * Milliseconds for which a suspect connection may still deliver a reply. If this process was busy, replies may be waiting in the socket.
 */
const LAST_WAIT_MS = 50
/** How often this wait is repeated, if this process was busy during it. */
const MAX_REPEATS = 5

export interface Watched {
  /** When the first call after the last reply was sent; undefined if no call was sent after that reply. */
  unansweredSince: number | undefined
  readonly silentMs: number
  suspected: boolean
}

/** Watches the replies on connections, and replaces connections that give none. */
export interface SilenceWatch {
  /** To be called when a call is sent. Returns the record of its connection; undefined if the connection is not watched. */
  sent(key: string | undefined): Watched | undefined
  /** To be called when the call has a reply, or has failed with this error. */
  ended(watched: Watched | undefined, error?: unknown): void
}

/** Watches nothing. */
export const NO_WATCH: SilenceWatch = { sent: () => undefined, ended: () => {} }

/**
 * Replaces connections that give no replies any more. A peer that vanished without a reset (a partition, a stopped server, a lost route)
 * looks like a slow one, and TCP may take minutes to report it. A connection is suspect if calls were sent and no reply came for 300 to 450
 * ms. This time is random, so that many stores do not act at the same moment. The next call then makes the port replace the connection,
 * unless a reply comes within another 50 ms. A refusal by the client itself is not a reply. If a port does not allow replacing connections,
 * none is watched.
 */
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
      // A reply has come since the connection became suspect. If a call has no reply, it was sent after that reply.
      if (watched.unansweredSince === undefined || watched.unansweredSince >= suspectedAt || known.get(connection) !== watched)
        watched.suspected = false
      // This process was too busy to read, and perhaps to write: what it sent may have left only now. So it waits for a reply once more.
      else if (more > 0 && time.monotonic() - startedAt > 2 * LAST_WAIT_MS) waitForReply(connection, watched, suspectedAt, more - 1)
      else {
        // The client uses the same object for its new connection. The record of the object is dropped, so that late replies on the old
        // connection do not count for the new one.
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
