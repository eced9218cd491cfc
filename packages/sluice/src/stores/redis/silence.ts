import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { classify } from './failures.ts'
import type { RedisPort } from './clients/redis-port.ts'

/** Milliseconds without any reply after which a connection counts as dead; a random time of up to half of that is added. */
const SILENT_MS = 300
/** Milliseconds after that in which a reply still counts: data that waited in the socket while this process was busy is read first. */
const HEARD_OUT_MS = 50
/** How often that wait is repeated if this process was busy meanwhile. */
const PATIENCE = 5

interface Heard {
  /** When the first call since the last reply was sent; undefined if no call has been sent since. */
  since: number | undefined
  readonly patience: number
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
  const known = new WeakMap<object, Heard>()
  const patience = (): number => SILENT_MS * (1 + random() / 2)
  const heardOn = (connection: object): Heard => {
    const heard: Heard = known.get(connection) ?? { since: undefined, patience: patience(), suspected: false }
    known.set(connection, heard)
    return heard
  }
  const suspect = (connection: object, heard: Heard): void => {
    if (heard.suspected) return
    heard.suspected = true
    hearOut(connection, heard, time.monotonic(), PATIENCE)
  }
  const hearOut = (connection: object, heard: Heard, suspectedAt: MonotonicInstant, more: number): void => {
    const asked = time.monotonic()
    time.after(HEARD_OUT_MS, () => {
      // A reply came meanwhile: a call that waits now was sent after it.
      if (heard.since === undefined || heard.since >= suspectedAt || known.get(connection) !== heard) heard.suspected = false
      // This process was too busy to read, and perhaps to write: what it sent may have left it only now.
      else if (more > 0 && time.monotonic() - asked > 2 * HEARD_OUT_MS) hearOut(connection, heard, suspectedAt, more - 1)
      else {
        // Late replies on the old connection must not count for the new one.
        known.delete(connection)
        connections.replace(connection)
      }
    })
  }
  const watched = (keys: readonly string[], send: () => Promise<unknown>): Promise<unknown> => {
    const connection = connections.of(keys[0])
    if (connection === undefined) return send()
    const heard = heardOn(connection)
    const now = time.monotonic()
    if (heard.since === undefined) heard.since = now
    else if (now - heard.since > heard.patience) suspect(connection, heard)
    return send().then(
      (reply) => {
        heard.since = undefined
        return reply
      },
      (error: unknown) => {
        if (classify(error).kind !== 'connection') heard.since = undefined
        throw error
      },
    )
  }
  return {
    ...port,
    evalsha: (sha1, keys, args) => watched(keys, () => port.evalsha(sha1, keys, args)),
    eval: (source, keys, args) => watched(keys, () => port.eval(source, keys, args)),
  }
}
