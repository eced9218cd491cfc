import { parsePolicy } from 'sluice/policy'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { LARGE_POLICIES } from './large-policies.ts'
import { type Reloaded, reloadedService, type Window } from './reload-under-load.ts'

const { redis } = inject('engines')
const FIRST = 'version: 1\nrules: [{ name: r7, match: { path: /a7/b7/** }, key: ["header:x-7"], rate: 1000000/s, burst: 1000000 }]\n'
const CONNECTIONS = 16
/** A deadline that other work of the machine does not use up. */
const UNHURRIED = 'failure: { deadline: 1s }\n'
/** Milliseconds that are the goal; a machine that does other work, or collects garbage meanwhile, takes longer. */
const GOAL = 20
/** What is always noticed: the part of reading a policy at once that a hold may not reach. */
const PART = 1 / 3

const BAD: typeof LARGE_POLICIES = [
  ['a mistake at its end', `${LARGE_POLICIES[0]?.[1] ?? ''}  - 7\n`],
  ['nothing but mistakes', `version: 1\nrules:\n${'  - { name: a, burst: many }\n'.repeat(8_000)}`],
  ['260,000 quotes', '"'.repeat(260_000)],
]

function told(what: string, { longest, work, answers, undecided, failed }: Window): void {
  const held = `longest hold ${work.toFixed(1)} ms of work (${longest.toFixed(1)} ms with what other programs took)`
  process.stdout.write(`${what}: ${held}, ${answers} answers, ${undecided} undecided, ${failed} failed\n`)
}

async function measured(name: string, service: Reloaded, each: (text: string) => Promise<void>): Promise<void> {
  const quiet = await service.during(() => new Promise((resolve) => setTimeout(resolve, 3_000)))
  told(`${name}, no reload`, quiet)
  const all: Window[] = []
  const tooLong: string[] = []
  for (const [kind, texts] of [
    ['good', LARGE_POLICIES],
    ['bad', BAD],
  ] as const) {
    for (const [what, text] of texts) {
      const found = await service.during(() => each(text))
      told(`${name}, ${kind}, ${what}`, found)
      all.push(found)
      if (found.work > quiet.work + Math.max(GOAL, PART * atOnce(text))) tooLong.push(`${what}: ${found.work.toFixed(1)} ms`)
    }
  }
  const worst = Math.max(...all.map(({ work }) => work))
  const undecided = all.reduce((sum, window) => sum + window.undecided + window.failed, 0)
  process.stdout.write(
    `Reload of 250 kB, good and bad, under load (${name}): longest hold of the loop ${worst.toFixed(1)} ms ` +
      `(${quiet.work.toFixed(1)} ms without a reload), ${undecided} undecided because of it\n`,
  )
  expect(undecided).toBe(0)
  expect(tooLong).toEqual([])
}

/** Milliseconds of the processor for reading a policy as a whole. */
function atOnce(text: string): number {
  const before = process.cpuUsage()
  try {
    parsePolicy(text)
  } catch {
    // A bad one is read to its end too.
  }
  return process.cpuUsage(before).user / 1_000
}

describe.skipIf(process.platform !== 'linux')('R13: reload of 250 kB under load', () => {
  it('holds the loop for 20 ms at most, and leaves nobody undecided', { timeout: 900_000 }, async () => {
    const service = await reloadedService(FIRST, [], CONNECTIONS)
    onTestFinished(() => service.stop())
    await measured('one process', service, async (text) => {
      await service.write(text)
      await service.put(text)
      process.kill(service.service.pid, 'SIGHUP')
      await new Promise((resolve) => setTimeout(resolve, 2_000))
    })
  })

  it.skipIf(redis === undefined)('does so in several workers', { timeout: 900_000 }, async () => {
    const service = await reloadedService(`${UNHURRIED}${FIRST}`, ['--workers', '2', '--store', redis as string], CONNECTIONS)
    onTestFinished(() => service.stop())
    await expect.poll(async () => (await fetch(`${service.service.url}/readyz`)).status, { timeout: 30_000 }).toBe(200)
    await measured('two workers', service, async (text) => {
      await service.put(`${UNHURRIED}${text}`)
      await new Promise((resolve) => setTimeout(resolve, 3_000))
    })
  })
})
