import { setTimeout as later } from 'node:timers/promises'
import type { Running } from '../contestants/contestant.ts'
import { closedLoop } from '../load.ts'
import { wayOf } from '../redis/ways.ts'
import type { Flood, Press, Sent } from './worker-order.ts'

/**
 * Sends requests at a steady rate, whether or not earlier ones are answered. A timer sends those that are due. It need not be exact,
 * because admitted requests are counted and no latency is measured.
 */
export async function flood({ url, way, quota, key, perSecond, ms, at }: Flood): Promise<Sent> {
  const running = await wayOf(way).open(url, quota, { callers: 1, note: true })
  const due = Math.round((perSecond * ms) / 1_000)
  const answers: Promise<boolean | undefined>[] = []
  await later(at - Date.now())
  const started = performance.now()
  while (answers.length < due) {
    const now = Math.min(due, Math.ceil(((performance.now() - started) * perSecond) / 1_000))
    while (answers.length < now) answers.push(answerOf(running, key, 0))
    await later(1)
  }
  const answered = await Promise.all(answers)
  const elapsedMs = performance.now() - started
  const sent = { commands: running.wire.sent().commands, admitted: instantsOf(running) }
  // The key is not deleted. Deleting it would give its tokens back while other processes still send.
  await running.close([])
  const count = (value: boolean | undefined): number => answered.filter((answer) => answer === value).length
  return { total: due, allowed: count(true), undecided: count(undefined), warmedUp: 0, elapsedMs, ...sent }
}

/** Runs callers on one key or on many, and counts their requests from the instant `at` on. */
export async function press({ url, way, quota, key, keys, callers, ms, at, warmUpMs, note }: Press): Promise<Sent> {
  const running = await wayOf(way).open(url, quota, { callers, note })
  const names = keys === 1 ? [key] : Array.from({ length: keys }, (_, index) => `${key}:${index}`)
  let next = 0
  const invoke = async (caller: number): Promise<boolean> => {
    next = next + 1 === names.length ? 0 : next + 1
    return running.passed(await running.invoke(names[next] as string, caller))
  }
  const begin = at - warmUpMs
  await later(begin - Date.now())
  const warmedUp = warmUpMs > 0 ? (await closedLoop(callers, warmUpMs, invoke)).total : 0
  const before = running.wire.sent().commands
  const { total, allowed, errors, elapsedMs } = await closedLoop(callers, ms, invoke)
  const sent = { commands: running.wire.sent().commands - before, admitted: instantsOf(running) }
  await running.close([])
  return { total, allowed, undecided: errors, warmedUp, elapsedMs, ...sent }
}

/** Whether a request may pass; undefined if that was not decided. */
export async function answerOf(running: Running, key: string, caller: number): Promise<boolean | undefined> {
  try {
    return running.passed(await running.invoke(key, caller))
  } catch {
    return undefined
  }
}

export function instantsOf({ admitted = [] }: Running): number[] {
  return admitted.map(({ at }) => at)
}
