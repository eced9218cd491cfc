import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { classify } from './failures.ts'
import type { RedisPort } from './clients/redis-port.ts'

/** Milliseconds without any reply after which a connection counts as dead; a random time of up to half of that is added. */
const SILENT_MS = 300
/** Milliseconds after that in which a reply still counts: data that waited in the socket while this process was busy is read first. */
const LAST_WAIT_MS = 50
/** How often that wait is repeated if this process was busy meanwhile. */
const MAX_REPEATS = 5

interface Watched {
  /** When the first call since the last reply was sent; undefined if no call has been sent since. */
  unansweredSince: number | undefined
  readonly silentMs: number
  suspected: boolean
}

/**
 * Wraps a port so that it replaces connections that have fallen silent. A peer that vanished without a reset (a partition, a stopped
 * server, a lost route) looks like a slow one. TCP may take minutes to report it. A connection is suspect after 300 to 450 ms in which
 * calls were sent and no reply came; the time is random, so that many stores do not act at once. The next call then has it replaced,
 * unless a reply comes within a further 50 ms. A refusal by the client itself is not a reply. A port without `connections` is returned as
 * it is.
 */
export function replacingSilent(port: RedisPort, time: Time, random: Random): RedisPort {
  const { connections } = port
  if (connections === undefined) return port
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
      // A reply came meanwhile: a call that waits now was sent after it.
      if (watched.unansweredSince === undefined || watched.unansweredSince >= suspectedAt || known.get(connection) !== watched)
        watched.suspected = false
      // This process was too busy to read, and perhaps to write: what it sent may have left it only now.
      else if (more > 0 && time.monotonic() - startedAt > 2 * LAST_WAIT_MS) waitForReply(connection, watched, suspectedAt, more - 1)
      else {
        // The client's object stays the same. Its new connection gets a new record, so that late replies on the old one do not count.
        known.delete(connection)
        connections.replace(connection)
      }
    })
  }
  /** Notes that a call is sent on the connection of this key; undefined if the connection is not known. */
  const watch = (key: string | undefined): Watched | undefined => {
    const connection = connections.of(key)
    if (connection === undefined) return undefined
    const watched = watchedAt(connection)
    const now = time.monotonic()
    if (watched.unansweredSince === undefined) watched.unansweredSince = now
    else if (now - watched.unansweredSince > watched.silentMs) suspect(connection, watched)
    return watched
  }
  const answered = async (watched: Watched, reply: Promise<unknown>): Promise<unknown> => {
    try {
      const value = await reply
      watched.unansweredSince = undefined
      return value
    } catch (error) {
      if (classify(error).kind !== 'connection') watched.unansweredSince = undefined
      throw error
    }
  }
  const watching =
    (send: RedisPort['evalsha']): RedisPort['evalsha'] =>
    (text, keys, args) => {
      const watched = watch(keys[0])
      const reply = send(text, keys, args)
      return watched === undefined ? reply : answered(watched, reply)
    }
  return { ...port, evalsha: watching(port.evalsha.bind(port)), eval: watching(port.eval.bind(port)) }
}
