import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { LARGE_POLICIES } from './large-policies.ts'
import { type Reloaded, reloadedService, type Window } from './reload-under-load.ts'

const { redis } = inject('engines')
const FIRST = 'version: 1\nrules: [{ name: r7, match: { path: /a7/b7/** }, key: ["header:x-7"], rate: 1000000/s, burst: 1000000 }]\n'
const CONNECTIONS = 16
/**
 * A deadline that is long enough on a busy machine, where a store over a network may be late. On a machine that does nothing else,
 * `SLUICE_RELOAD_DEADLINE=50ms` sets the default deadline.
 */
const UNHURRIED = `failure: { deadline: ${process.env['SLUICE_RELOAD_DEADLINE'] ?? '1s'} }\n`
/**
 * The most milliseconds of processor time that the event loop may work at once, on a machine that does the piece of work of loop-holds.mjs
 * in `PIECE_MS`. On a slower machine it may take longer in proportion. What blocks the loop without a reload is not counted.
 */
const MAX_WORK = 20
const PIECE_MS = 1
/**
 * How often a reload is repeated until it is within the bounds. Other programs may make one attempt slow, but what the reload does itself
 * is the same in each.
 */
const ATTEMPTS = 3
const QUIET_MS = 3_000

const BAD: typeof LARGE_POLICIES = [
  ['a mistake at its end', `${LARGE_POLICIES[0]?.[1] ?? ''}  - 7\n`],
  ['nothing but mistakes', `version: 1\nrules:\n${'  - { name: a, burst: many }\n'.repeat(8_000)}`],
  ['260,000 quotes', '"'.repeat(260_000)],
]

function print(what: string, { longest, work, piece, answers, undecided, failed }: Window): void {
  const held = `longest hold ${work.toFixed(1)} ms of work (${longest.toFixed(1)} ms with what other programs took)`
  process.stdout.write(`${what}: ${held}, piece ${piece.toFixed(2)} ms, ${answers} answers, ${undecided} undecided, ${failed} failed\n`)
}

function shareOf({ undecided, answers }: Window): number {
  return undecided / Math.max(1, answers)
}

async function measured(name: string, service: Reloaded, each: (text: string) => Promise<void>): Promise<void> {
  const kept: Window[] = []
  const tooMuch: string[] = []
  let repeated = 0
  // The share of undecided answers and the longest work without a reload. The machine causes these, not the reload.
  let [undecidedAnyway, workAnyway] = [0, 0]
  const quiet = async (): Promise<Window> => {
    const found = await service.during(() => new Promise((resolve) => setTimeout(resolve, QUIET_MS)))
    print(`${name}, no reload`, found)
    return found
  }
  const compare = async (): Promise<void> => {
    const found = await quiet()
    undecidedAnyway = Math.max(undecidedAnyway, shareOf(found))
    workAnyway = Math.max(workAnyway, found.work)
  }
  const excess = ({ work, piece }: Window): number => work - workAnyway - MAX_WORK * Math.max(1, piece / PIECE_MS)
  const isGood = (found: Window): boolean => excess(found) <= 0 && shareOf(found) <= undecidedAnyway && found.failed === 0
  // The first calls load what they need.
  await quiet()
  await compare()
  for (const [kind, texts] of [
    ['good', LARGE_POLICIES],
    ['bad', BAD],
  ] as const) {
    for (const [what, text] of texts) {
      let best: Window | undefined
      for (let attempt = 0; attempt < ATTEMPTS && (best === undefined || !isGood(best)); attempt += 1) {
        if (attempt > 0) {
          repeated += 1
          await compare()
        }
        // Another text each time, so that it is read again.
        const found = await service.during(() => each(`${text}# ${attempt}\n`))
        print(`${name}, ${kind}, ${what}`, found)
        if (best === undefined || isGood(found) || (!isGood(best) && excess(found) < excess(best))) best = found
      }
      if (best === undefined) continue
      kept.push(best)
      if (!isGood(best))
        tooMuch.push(
          `${what}: ${best.work.toFixed(1)} ms, ${excess(best).toFixed(1)} too many, ${best.undecided} undecided, ${best.failed} failed`,
        )
    }
  }
  const worst = Math.max(...kept.map(({ work }) => work))
  const undecided = kept.reduce((sum, window) => sum + window.undecided + window.failed, 0)
  process.stdout.write(
    `Reload of 250 kB, good and bad, under load (${name}): longest hold of the loop ${worst.toFixed(1)} ms of work, ${undecided} undecided; ` +
      `${repeated} reloads repeated for what other programs did, undecided without a reload ${(100 * undecidedAnyway).toFixed(1)} %\n`,
  )
  expect(tooMuch).toEqual([])
}

/** Other programs on the machine may disturb a measurement. So a test that misses its bound is repeated once. */
const AGAIN = { retry: 1 }

describe.skipIf(process.platform !== 'linux')('R13: reload of 250 kB under load', AGAIN, () => {
  it('holds the loop for 20 ms at most, and leaves nobody undecided', { timeout: 1_200_000 }, async () => {
    const service = await reloadedService(FIRST, [], CONNECTIONS)
    onTestFinished(() => service.stop())
    await measured('one process', service, async (text) => {
      await service.write(text)
      await service.put(text)
      process.kill(service.service.pid, 'SIGHUP')
      await new Promise((resolve) => setTimeout(resolve, 2_000))
    })
  })

  it.skipIf(redis === undefined)('does so in several workers', { timeout: 1_200_000 }, async () => {
    const service = await reloadedService(`${UNHURRIED}${FIRST}`, ['--workers', '2', '--store', redis as string], CONNECTIONS)
    onTestFinished(() => service.stop())
    await expect.poll(async () => (await fetch(`${service.service.url}/readyz`)).status, { timeout: 30_000 }).toBe(200)
    await measured('two workers', service, async (text) => {
      await service.put(`${UNHURRIED}${text}`)
      await new Promise((resolve) => setTimeout(resolve, 3_000))
    })
  })
})
