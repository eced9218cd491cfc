import type { Policy } from 'sluice/policy'
import type { WatchedFile } from '../files/watch-file.ts'
import type { Log } from '../logs/log.ts'
import { type FetchedPolicy, reasonOf, type Validators } from './fetch-policy.ts'
import { inOneLine } from './held-policy.ts'
import { isTextAtFault } from './parse-elsewhere.ts'
import type { Candidate } from './read-policy.ts'
import { createRefusal, logRefused, logTaken } from './reloading.ts'

export interface PollOptions {
  /** The URL as it may be printed. */
  readonly name: string
  /** Undefined if the policy has not changed since these validators. */
  fetch(validators: Validators): Promise<FetchedPolicy | undefined>
  readonly intervalMs: number
  /** Milliseconds before the first request; default as before the others. */
  readonly firstPauseMs?: number | undefined
  readonly first: Pick<FetchedPolicy, 'text' | 'validators'>
  /**
   * @param always whether to load the same text again, because files that it names may have changed
   * @param at milliseconds since 1970 when the request began
   */
  replace(candidate: Candidate, always: boolean, at: number): Promise<Policy>
  /** How many policies were taken. */
  loaded(): number
  readonly log: Log
}

/** Reports the same failure once, until it ends. */
function reporting(name: string, log: Log) {
  let last: string | undefined
  return {
    /** @param same equal for failures that are the same */
    report(why: string, same: string, always: boolean) {
      if (same !== last || always) logRefused(log, name, why)
      last = same
    },
    /** Returns whether there was a failure. */
    ends() {
      const failed = last !== undefined
      last = undefined
      return failed
    },
  }
}

function varied(intervalMs: number): number {
  return intervalMs * (0.75 + Math.random() / 2)
}

/** The same failure is logged once, and at each SIGHUP. Pauses vary by a quarter, so that services do not all fetch at the same time. */
export function polling({ name, fetch, intervalMs, firstPauseMs, first, replace, loaded, log }: PollOptions): WatchedFile {
  const retries = createRefusal(loaded)
  let { validators, text: last }: { validators: Validators; text: FetchedPolicy['text'] } = first
  const [trouble, refused] = [reporting(name, log), reporting(name, log)]
  let [busy, wanted, closed] = [false, false, false]
  let timer: NodeJS.Timeout | undefined

  const use = async ({ text, format, validators: found }: FetchedPolicy, always: boolean, at: number): Promise<void> => {
    validators = found
    if (String(text) === String(last) && !always) return
    last = text
    if (!always && retries.isOutdated(text)) return
    try {
      const policy = await replace({ text, filename: name, ...(format === undefined ? {} : { format }) }, always, at)
      refused.ends()
      await logTaken(log, name, policy)
    } catch (error) {
      if (!isTextAtFault(error)) {
        retries.note(text, error, always)
        // With the validators the next answer would be 304, and the text would never be tried again.
        ;[validators, last] = [{}, '']
      }
      const why = inOneLine(error)
      refused.report(why, `${why}\n${String(text)}`, always)
    }
  }
  const poll = async (always: boolean): Promise<void> => {
    busy = true
    try {
      const at = Date.now()
      const fetched = await fetch(always ? {} : validators)
      if (trouble.ends()) log('info', 'policy-reached', `policy ${name} is reached again`, { source: name })
      if (fetched !== undefined && !closed) await use(fetched, always, at)
    } catch (error) {
      const why = `${name} cannot be fetched: ${reasonOf(error as Error)}`
      trouble.report(why, why, always)
    }
    busy = false
    if (closed) return
    if (wanted) {
      wanted = false
      return poll(true)
    }
    timer = setTimeout(() => void poll(false), varied(intervalMs))
  }
  timer = setTimeout(() => void poll(false), firstPauseMs ?? varied(intervalMs))
  return {
    read() {
      if (busy) return void (wanted = true)
      clearTimeout(timer)
      void poll(true)
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
