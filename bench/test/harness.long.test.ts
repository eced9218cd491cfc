import { setTimeout as later } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import type { Contestant } from '../src/contestants/contestant.ts'
import { lua } from '../src/contestants/lua.ts'
import { sluice } from '../src/contestants/sluice.ts'
import { measureOverGrant } from '../src/over-grant.ts'
import { ALLOWED } from '../src/profiles.ts'
import { batchesOf } from '../src/redis/batches.ts'
import { comparisonOf } from '../src/redis/comparison.ts'
import { interleaveLanes } from '../src/redis/rounds.ts'
import { tableText } from '../src/render/text.ts'
import { isSpread, isWrong } from '../src/result/table.ts'

const { redis } = inject('engines')
const url = redis ?? ''

/** Lets every second request of those pass that its program denies. */
const wrong: Contestant = {
  ...lua,
  name: 'a wrong limiter',
  async open(...args) {
    const running = await lua.open(...args)
    let denied = 0
    return { ...running, passed: (answer) => running.passed(answer) || (denied += 1) % 2 === 0 }
  },
}

const slow: Contestant = {
  ...lua,
  name: 'a slow limiter',
  async open(...args) {
    const running = await lua.open(...args)
    return { ...running, invoke: (key, caller) => later(20).then(() => running.invoke(key, caller)) }
  },
}

/** Denies where all may pass. */
const strict: Contestant = {
  ...lua,
  name: 'a limiter that denies too much',
  async open(...args) {
    const running = await lua.open(...args)
    let calls = 0
    return { ...running, passed: (answer) => running.passed(answer) && (calls += 1) % 3 !== 0 }
  },
}

describe.skipIf(redis === undefined)('what the bench says of a limiter', () => {
  it('a wrong one is wrong in its over-grant, one that denies too much too, and a slow one is slow', async () => {
    const all = [lua, sluice, wrong, slow, strict]
    const { tokens, per, burst } = ALLOWED
    const opened = await Promise.all(all.map((one) => one.open(url, { tokens, per, burst }, { callers: 4 })))
    const lanes = all.map(({ name }, index) => {
      const running = opened[index] as (typeof opened)[number]
      const { invoke, passed, wire } = running
      const lane = {
        name,
        callers: 4,
        invoke: (caller: number) => invoke(`harness:${process.pid}:${index}`, caller),
        passed,
        sent: wire.sent,
      }
      return batchesOf(lane, { batchMs: 20, warmUpMs: 50 })
    })
    const timed = await interleaveLanes(lanes, 0.2)
    for (const [index, running] of opened.entries()) await running.close([`harness:${process.pid}:${index}`])
    const known = []
    for (const one of all) {
      const { overGrantPercent } = await measureOverGrant(one, { url, callers: 16, seconds: 0.5, rate: 10, burst: 10 })
      known.push({ kind: one.kind, grant: { overGrantPercent: Math.max(0, overGrantPercent) } })
    }
    const { table } = comparisonOf(ALLOWED, ['lua', 'sluice', 'wrong', 'slow', 'strict'], timed, known)
    expect(table.rows.map((row) => [row.name, isWrong(row)])).toEqual([
      [lua.name, false],
      [sluice.name, false],
      [wrong.name, true],
      [slow.name, false],
      [strict.name, true],
    ])
    expect(tableText(table)).toMatch(/^a wrong limiter .* WRONG/m)
    expect(tableText(table)).toMatch(/^a limiter that denies too much .* WRONG/m)
    // It waits 20 ms for each of its four callers, so it is far beyond the quartiles of all others.
    const times = new Map(table.rows.map(({ name, cells: { time } }) => [name, isSpread(time) ? time : undefined]))
    const slowest = times.get(slow.name)?.low ?? 0
    for (const [name, time] of times) if (name !== slow.name) expect([name, (time?.high ?? Number.NaN) < slowest]).toEqual([name, true])
  })
})
