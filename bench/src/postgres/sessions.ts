import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Quota } from '../contestants/contestant.ts'
import { spreadOf, type Spread } from '../result/statistics.ts'
import { type PlaceInput, placeOf } from './place.ts'
import { POSTGRES_WAYS } from './ways.ts'

export interface SessionsInput extends PlaceInput {
  readonly seconds: number
}

export interface SessionsResult {
  readonly total: number
  readonly denied: number
  /** Decided calls a second: the quartiles over tenths of the time. */
  readonly perSecond: Spread
  /** The number of failures by SQLSTATE, or by the cause in a decision. */
  readonly failures: Readonly<Record<string, number>>
}

/**
 * The test of the article "Rate limiting with PostgreSQL / YugabyteDB". Eight sessions call again as soon as they are answered, with 1,000
 * tokens a second and a window of an hour.
 */
export const SESSIONS = 8
const QUOTA: Quota = { tokens: 1_000, per: '1s', burst: 3_600_000 }
const SLICES = 10

/** Runs sessions with a connection each. A session whose call failed calls again, where the article's sessions end. */
export async function runSessions({ seconds, ...input }: SessionsInput): Promise<SessionsResult> {
  const way = POSTGRES_WAYS[input.way]
  const place = await placeOf(input, 'sessions')
  const pool = place.pool(SESSIONS)
  try {
    await way.prepare(pool, QUOTA)
    const running = await way.open(pool, QUOTA)
    const failures: Record<string, number> = {}
    const slices = Array.from({ length: SLICES }, () => 0)
    let [total, denied] = [0, 0]
    const started = performance.now()
    const sliceMs = (seconds * 1_000) / SLICES
    const session = async (): Promise<void> => {
      while (performance.now() < started + seconds * 1_000) {
        total += 1
        try {
          if (!(await running.invoke('user1'))) denied += 1
          // A call that is answered after the end of the time belongs to no slice.
          const slice = Math.floor((performance.now() - started) / sliceMs)
          if (slice < SLICES) (slices[slice] as number) += 1
        } catch (error) {
          const code = failureOf(error)
          failures[code] = (failures[code] ?? 0) + 1
          await nextTurn()
        }
      }
    }
    await Promise.all(Array.from({ length: SESSIONS }, session))
    await running.close()
    return { total, denied, perSecond: spreadOf(slices.map((count) => (count / sliceMs) * 1_000)), failures }
  } finally {
    await pool.end()
    await place.drop()
  }
}

/** The SQLSTATE of a failure, or the cause in a decision. */
export function failureOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : String(error)
}
