import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { classify } from './failures.ts'
import type { RedisPort } from './redis-port.ts'

/** Milliseconds without any answer after which a connection is taken for dead; up to half of that is added by chance. */
const SILENT_MS = 300
/** For so long after that it is heard out: what waited in the socket while this process was busy is read first. */
const HEARD_OUT_MS = 50
/** How often it is heard out again where this process was busy meanwhile. */
const PATIENCE = 5

interface Heard {
  /** When the first call was sent since which nothing has been heard; undefined where the last word was the server's. */
  since: number | undefined
  readonly patience: number
  suspected: boolean
}

/**
 * The port, with connections replaced that have fallen silent. One whose other end has vanished without a word (a partition, a stopped
 * server, a lost route) looks like a slow one, and TCP may take minutes to tell: after 300 to 450 ms (by chance, so that many stores do not
 * act at once) in which calls were sent and nothing at all was heard, the next call has it replaced, unless it is heard in a further 50 ms. A refusal of the client itself is no
 * answer. A port without `connections` is returned as it is.
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
      // A call that waits since then was sent after an answer.
      if (heard.since === undefined || heard.since >= suspectedAt || known.get(connection) !== heard) heard.suspected = false
      // This process was too busy to listen, and perhaps to speak: what it sent may have left it only now.
      else if (more > 0 && time.monotonic() - asked > 2 * HEARD_OUT_MS) hearOut(connection, heard, suspectedAt, more - 1)
      else {
        // What the old connection still says is not said by the new one.
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
