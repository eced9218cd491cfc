import type { Quota } from '../contestants/contestant.ts'
import { type BatchOptions, batchesOf, type CallersLane } from '../redis/batches.ts'
import { type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import { article } from './article.ts'
import { flexible } from './flexible.ts'
import { poolIn } from './pool.ts'
import { bare, coalescing, sluice } from './sluice.ts'
import { update } from './update.ts'
import type { Opened, Way } from './way.ts'

export type WayName = 'article' | 'update' | 'bare' | 'coalescing' | 'sluice' | 'flexible'

export const POSTGRES_WAYS: Readonly<Record<WayName, Way>> = { article, update, bare, coalescing, sluice, flexible }
const MANY = 50_000

export interface LanesInput extends BatchOptions {
  readonly seconds: number
  readonly url: string
  readonly quota: Quota
  /** As many connections for each way. */
  readonly callers: number
  readonly keys: 'one' | 'many'
  readonly ways: readonly WayName[]
}

/** Ways side by side on one server, each in a schema of its own, with as many connections as callers. */
export async function compareWays({ url, quota, callers, keys, ways, seconds, ...options }: LanesInput): Promise<CallersTimed[]> {
  const opened: { lane: CallersLane; close(): Promise<void> }[] = []
  for (const name of ways) opened.push(await open(POSTGRES_WAYS[name], name, { url, quota, callers, keys }))
  const timed = await interleaveLanes(
    opened.map(({ lane }) => batchesOf(lane, options)),
    seconds,
  )
  for (const { close } of opened) await close()
  return timed
}

async function open(
  way: Way,
  schema: string,
  { url, quota, callers, keys }: Pick<LanesInput, 'url' | 'quota' | 'callers' | 'keys'>,
): Promise<{ lane: CallersLane; close(): Promise<void> }> {
  const pool = await poolIn(url, `${schema}_${process.pid}_${callers}_${keys}`, callers)
  let calls = 0
  pool.on('acquire', () => (calls += 1))
  await way.prepare(pool, quota)
  const running: Opened = await way.open(pool, quota)
  const names = Array.from({ length: keys === 'one' ? 1 : MANY }, (_, index) => `user:${10_000_000 + index}`)
  let next = 0
  const lane: CallersLane = {
    name: way.name,
    callers,
    invoke: () => running.invoke(names[(next += 1) % names.length] as string),
    passed: (answer) => answer === true,
    sent: () => ({ calls, commands: calls }),
  }
  return {
    lane,
    close: async () => {
      await running.close()
      await pool.end()
    },
  }
}
