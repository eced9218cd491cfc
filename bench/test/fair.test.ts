import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { heldReadings } from '../src/memory/keys.ts'
import type { HoldResult } from '../src/memory/keys-hold.ts'
import type { Quota } from '../src/contestants/contestant.ts'
import { ALLOWED } from '../src/profiles.ts'
import { article } from '../src/postgres/article.ts'
import { flexible } from '../src/postgres/flexible.ts'
import { poolIn } from '../src/postgres/pool.ts'
import { bare, sluice } from '../src/postgres/sluice.ts'
import { update } from '../src/postgres/update.ts'
import type { Opened, Way } from '../src/postgres/way.ts'
import { batchesOf, type CallersLane } from '../src/redis/batches.ts'
import { comparisonOf, judge } from '../src/redis/comparison.ts'

const { postgres } = inject('engines')
const url = postgres ?? ''
/** Three, and the next comes tomorrow. */
const QUOTA = { tokens: 1, per: '1d', burst: 3 } as const
/** As the article's function can carry it, in whole tokens a second. */
const MANY = { tokens: 1_000, per: '1s', burst: 3_000 } as const

/** Ours have the default deadline, which a first call may pass where other tests have the processors. */
async function answered(running: Opened, key: string): Promise<void> {
  while ((await running.invoke(key).catch(() => undefined)) === undefined);
}

describe.skipIf(postgres === undefined)('F: PostgreSQL’s baselines run where ours runs', () => {
  const opened = async (way: Way, name: string, quota: Quota = MANY, connections = 1) => {
    const schema = `fair_${name}_${process.pid}`
    const pool = await poolIn(url, schema, connections)
    onTestFinished(async () => {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    })
    await way.prepare(pool, quota)
    return { pool, schema, running: await way.open(pool, quota) }
  }

  it.each([
    ['article', article],
    ['update', update],
    ['bare', bare],
    ['flexible', flexible],
  ])('%s: prepares its statement once for each connection', async (name, way) => {
    const { pool, running } = await opened(way, name)
    await answered(running, 'a')
    await answered(running, 'b')
    const { rows } = await pool.query<{ issued: string }>(
      `select max(generic_plans + custom_plans) as issued from pg_prepared_statements where not from_sql`,
    )
    expect(Number(rows[0]?.issued)).toBeGreaterThanOrEqual(2)
    await running.close()
  })

  it('one prepared UPDATE: three of a burst of three, then none, each key for itself', async () => {
    const { running } = await opened(update, 'exact', QUOTA)
    const answers: boolean[] = []
    for (const key of ['a', 'b', 'a', 'a', 'a', 'b']) answers.push(await running.invoke(key))
    expect(answers).toEqual([true, true, true, true, false, true])
  })

  it('one prepared UPDATE: exact under calls at the same time, and one statement also for a denial', async () => {
    const { pool, running } = await opened(update, 'statements', QUOTA, 8)
    const answers = await Promise.all(Array.from({ length: 24 }, () => running.invoke('a')))
    expect(answers.filter(Boolean)).toHaveLength(3)
    let statements = 0
    pool.on('acquire', () => (statements += 1))
    expect([await running.invoke('a'), statements]).toEqual([false, 1])
    expect([await running.invoke('b'), statements]).toEqual([true, 3])
    expect([await running.invoke('b'), statements]).toEqual([true, 4])
  })

  it.each([
    ['bare', bare],
    ['sluice', sluice],
  ])('%s: what is late by the default deadline is no decision', async (name, way) => {
    const { schema, running } = await opened(way, `late_${name}`)
    await answered(running, 'a')
    const other = await poolIn(url, `${schema}_other`, 1)
    const holder = await other.connect()
    onTestFinished(async () => {
      await holder.query('rollback')
      await holder.query(`drop schema ${schema}_other`)
      holder.release()
      await other.end()
    })
    await holder.query(`begin; lock table ${schema}.sluice_state in access exclusive mode`)
    // With a deadline of a minute this would wait for the end of the test.
    await expect(running.invoke('a')).rejects.toThrow(/ms|deadline|time/)
    await holder.query('rollback')
    await running.close()
  })
})

describe('F: what is measured is what is reported', () => {
  const run = (ms: number, bytes: number): HoldResult => {
    const longest = { wall: ms, own: ms, apart: ms }
    const collection = { at: 0, ms, kind: 'minor' }
    return {
      bytesPerKey: bytes,
      call: longest,
      nothing: longest,
      collections: { growth: collection, lookups: collection },
      allowed: 1,
    }
  }

  it('longest call and collection are those of the worst run, on every side', () => {
    const [short, long] = [run(1, 40), run(9, 50)]
    const readings = heldReadings({ sluice: [short, long], map: [long, short], lookup: [short, run(2, 40)], bare: [short] })
    expect(readings).toMatchObject([
      { name: 'memory per key', value: 50, baseline: 'Map 50 bytes' },
      { name: 'longest call from 0 to all keys', value: 9, baseline: 'Map 9.00 ms', floor: { value: 9 } },
      { name: 'longest collection, from 0 to all keys', value: 9, goal: { atMost: 4 }, floor: { value: 2 } },
      { name: 'longest collection, lookups at random', value: 9 },
    ])
  })

  it('time is wall time, and processor time is separate', () => {
    const lane = (name: string, wall: number, client: number, server: number) => {
      const rounds = [{ wall, client, server }]
      return { name, callers: 1, rounds, total: 10, allowed: 10, errors: 0, reasons: {}, storeCalls: 1 }
    }
    const comparison = comparisonOf(
      ALLOWED,
      ['lua', 'ours'],
      [lane('Lua', 100, 20, 5), lane('Sluice', 150, 40, 10)],
      [
        { kind: 'baseline', grant: undefined },
        { kind: 'ours', grant: undefined },
      ],
    )
    const slow = { name: 'plain', ours: 'ours', baseline: 'lua' } as const
    expect(judge(comparison, { ...slow, as: 'time' })).toMatchObject({ value: 1.5, processor: { median: 2 } })
    expect(judge(comparison, { ...slow, as: 'speed' })).toMatchObject({ value: 100 / 150, processor: { median: 0.5 } })
  })

  it('a request that nobody decided saves no time', async () => {
    let clock = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => clock)
    onTestFinished(() => now.mockRestore())
    const lane: CallersLane = {
      name: 'every second call fails',
      callers: 1,
      invoke: async () => {
        clock += 1
        if (clock % 2 === 0) throw new Error('late')
        return true
      },
      passed: (answer) => answer === true,
      sent: () => ({ calls: clock, commands: clock }),
    }
    const { round, total, errors } = await batchesOf(lane, { batchMs: 1, warmUpMs: 1 }).batch()
    expect([total, errors]).toEqual([2, 1])
    // Two calls of a millisecond each, and one decision.
    expect(round.wall).toBe(2e6)
  })

  // [microseconds of a call by the clock, of its processor time, at least so many calls, at most]
  it.each([
    [20, 20, 10_000, 10_500],
    [30, 30, 10_000, 10_500],
    [1_000, 300, 500, 520],
    [10, 5, 20_000, 22_000],
  ])('code that takes %i us a call, %i of them on a processor, is called %i times before it is measured', async (us, cpu, least, most) => {
    let calls = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => (calls * us) / 1_000)
    const spent = vi.spyOn(process, 'cpuUsage').mockImplementation((before) => ({ user: calls * cpu - (before?.user ?? 0), system: 0 }))
    onTestFinished(() => now.mockRestore())
    onTestFinished(() => spent.mockRestore())
    const invoke = async (): Promise<boolean> => {
      calls += 1
      return true
    }
    const lane = { name: 'cold', callers: 1, invoke, passed: () => true, sent: () => ({ calls, commands: calls }) }
    await batchesOf(lane, { batchMs: 1, warmUpMs: 100 }).warmUp()
    expect(calls).toBeGreaterThanOrEqual(least)
    expect(calls).toBeLessThan(most)
  })
})

describe('F: the service’s baseline', () => {
  it.each([
    ['constant', '{"key":"client-1"}', 200],
    ['print', '[{"key":"client-1"}]', 200],
    ['constant', '', 400],
    ['print', '', 400],
    ['print', 'null', 400],
  ])('%s, body %j: reads it, and answers %i with the answer’s length and type', async (kind, body, status) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'answer.json')
    writeFileSync(file, '[{"outcome":"allowed"}]\n')
    const server = spawn(process.execPath, [join(import.meta.dirname, '..', 'dist', 'service', 'json-server.js'), kind, file])
    onTestFinished(() => void server.kill())
    const [address] = (await once(server.stdout, 'data')) as [Buffer]
    const response = await fetch(address.toString().trim(), { method: 'POST', body })
    expect([response.status, await response.text()]).toEqual([status, '[{"outcome":"allowed"}]\n'])
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe('24')
  })
})
