import { sayEachMinute } from './say-each-minute.ts'

/** Events that any client can cause as often as it likes; each kind is warned of in at most one line a minute. */
export type Repeated = 'wrong-token' | 'connections-full'

/** Counts an event. @param times default 1 */
export type CountRepeated = (what: Repeated, times?: number) => void

const BATCH_MS = 1_000

/**
 * Warns of each kind at its first event and then at most once a minute, with the number of events since the last line.
 * @param served the connections that each process serves
 */
export function repeatedWarnings(write: (line: string) => void, served: number): CountRepeated {
  const kinds = eachKind((what, count, again) => {
    const late = again ? ' in the last minute' : ''
    if (what === 'wrong-token') return write(`${count} request${plural(count)} with a wrong admin token${late}, refused with 401`)
    const found = `${count} connection${plural(count)}${late} found all ${served} taken`
    write(`${found} (--max-connections): above it only health is answered`)
  })
  return (what, times) => kinds[what](times)
}

/**
 * Reports from a worker to the primary, which warns. It sends at once, then at most once a second, so that a flood of requests does not
 * become a flood of messages.
 */
export function inBatches(send: (what: Repeated, times: number) => void): CountRepeated {
  const kinds = eachKind((what, count) => send(what, count), BATCH_MS)
  return (what, times) => kinds[what](times)
}

type Write = (what: Repeated, count: number, again: boolean) => void

function eachKind(write: Write, everyMs?: number): Readonly<Record<Repeated, (times?: number) => void>> {
  const one = (what: Repeated): ((times?: number) => void) => sayEachMinute((count, again) => write(what, count, again), everyMs)
  return { 'wrong-token': one('wrong-token'), 'connections-full': one('connections-full') }
}

function plural(count: number): string {
  return count === 1 ? '' : 's'
}
