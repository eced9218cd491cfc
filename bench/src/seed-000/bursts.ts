import { setTimeout as later } from 'node:timers/promises'
import { windowOf } from '../contestants/contestant.ts'
import { wayOf } from '../redis/ways.ts'
import { answerOf, instantsOf } from './loads.ts'
import type { Bursts, WorkerOrder } from './worker-order.ts'

/**
 * Times of bursts, as shares of a window's length. One burst comes BEFORE_END before the end of a window, and the next AFTER_END after it.
 * Further bursts come at FURTHER in the next window.
 */
const BEFORE_END = 0.12
const AFTER_END = 0.04
const FURTHER = [0.3, 0.5, 0.7, 0.8] as const
/** A burst around the end of a window is larger than the limit. */
const MORE = 1.5

/**
 * Sends bursts at fixed instants of windows, which begin at multiples of their length by the clock. If a limiter begins its windows with
 * the first request of a key, that request is sent when such a window begins.
 */
export async function bursts({ url, way, quota, key }: Extract<WorkerOrder, { what: 'bursts' }>): Promise<Bursts> {
  const window = windowOf(quota) * 1_000
  const { promise = 'bucket' } = wayOf(way)
  const open = () => wayOf(way).open(url, quota, { callers: 1, note: true })
  const [once, end] = [await open(), await open()]
  let undecided = 0
  /** The requests of a burst that were admitted. */
  const send = async (running: typeof once, name: string, count: number): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: count }, () => answerOf(running, name, 0)))
    undecided += answers.filter((answer) => answer === undefined).length
    return answers.filter((answer) => answer === true).length
  }
  const begin = Math.ceil(Date.now() / window) * window
  const until = (at: number): Promise<void> => later(Math.max(0, begin + at * window - Date.now()))
  await until(0)
  // One request begins the window of the key. A bucket needs no such request, and would lack the token that it takes.
  if (promise !== 'bucket') await send(end, `${key}:end`, 1)
  const atOnce = await send(once, `${key}:once`, quota.burst)
  await until(0.5)
  const half = await send(once, `${key}:once`, quota.burst)
  const many = Math.ceil(quota.burst * MORE)
  await until(1 - BEFORE_END)
  await send(end, `${key}:end`, many)
  await until(1 + AFTER_END)
  await send(end, `${key}:end`, many)
  const boundary = instantsOf(end)
  for (const at of FURTHER) {
    await until(1 + at)
    await send(end, `${key}:end`, many)
  }
  const pressed = instantsOf(end)
  // The keys are not deleted. Deleting them may fail on a busy machine, and the server belongs to this run alone.
  await once.close([])
  await end.close([])
  return { atOnce, later: half, undecided, boundary, pressed }
}
