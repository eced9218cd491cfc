import type { Random, Time } from '../../time/time.ts'
import { type CallOptions, StoreFailure } from '../store.ts'
import { isConflict } from './failures.ts'
import type { Lanes, Locking, Statement } from './lanes.ts'
import type { Row } from './clients/postgres-port.ts'

/**
 * A null reply means that others inserted the same rows, and nothing was executed: the statement is sent again. `tries` counts null
 * replies.
 */
export type Query = (
  statement: Statement,
  values: readonly string[] | ((tries: number) => readonly string[]),
  options: CallOptions | undefined,
  locking: Locking,
) => Promise<readonly Row[]>

const RETRIES = 2
/** The most attempts after null replies (others inserted the same rows first). One is enough, unless those rows are deleted meanwhile. */
const FIRST_CALL_RETRIES = 8
/** Milliseconds: the longest random pause after the first conflict, doubled after each further one. */
const CONFLICT_PAUSE_MS = 2

/** After a conflict, the statement is sent again, at most twice. */
export function createQuery(lanes: Lanes, clock: Time, random: Random): Query {
  return (statement, values, options, locking) => {
    const late = (): boolean =>
      options?.signal?.aborted === true || (options?.deadline !== undefined && clock.monotonic() >= options.deadline)
    const send = async (conflicts = 0, firsts = 0): Promise<readonly Row[]> => {
      try {
        const sent = typeof values === 'function' ? values(firsts) : values
        const rows = await lanes.send(statement, sent, options, locking)
        const unmade = rows[0] !== undefined && 'reply' in rows[0] && rows[0]['reply'] === null
        if (!unmade) return rows
      } catch (error) {
        if (conflicts >= RETRIES || late() || !isConflict(error)) throw error
        await new Promise<void>((resolve) => clock.after(random() * CONFLICT_PAUSE_MS * 2 ** conflicts, resolve))
        if (late()) throw error
        return send(conflicts + 1, firsts)
      }
      if (firsts < FIRST_CALL_RETRIES && !late()) return send(conflicts, firsts + 1)
      throw new StoreFailure('contention', 'no', 'postgres: others kept making the same states')
    }
    return lanes.run(send, options, locking)
  }
}
