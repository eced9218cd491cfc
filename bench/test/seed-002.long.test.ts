import { findRedis } from '@sluice/scripts/engines'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { clojureLua } from '../src/contestants/clojure-lua.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { auditGrant } from '../src/redis/grants.ts'
import { pollArticle } from '../src/seed-002/polls.ts'
import { bench, folder } from './run-bench.ts'

const { redis } = inject('engines')
const url = redis ?? ''

describe.skipIf(redis === undefined)('seed-002: the program of the article on Redis', () => {
  it('half a token counts as a whole one: who calls every half second gets twice the rate', async () => {
    expect((await pollArticle(url, 500)).allowed).toBeGreaterThan(190)
    expect((await pollArticle(url, 1_000)).overGrantPercent).toBe(0)
  })

  it('a flood gets more than the limit', async () => {
    let over = 0
    // While the machine does other work, a short flood may have too few calls to show it.
    for (let seconds = 1; seconds <= 16 && over <= 20; seconds *= 2)
      over = (await auditGrant({ url, seconds, way: 'lua-clojure', callers: 64 })).overGrantPercent
    expect(over).toBeGreaterThan(20)
  })

  it('keeps two keys for a user, and none expires', async () => {
    const running = await clojureLua.open(url, { tokens: 10, per: '1s', burst: 10 }, { callers: 1 })
    const key = `bench-test:${process.pid}:clojure`
    expect(running.passed(await running.invoke(key, 0))).toBe(true)
    const client = running.wire.clients[0]
    const names = (await client?.keys(`${key}*`)) ?? []
    expect(names).toHaveLength(2)
    for (const name of names) expect(await client?.pttl(name)).toBe(-1)
    await running.close([key])
  })
})

describe('npm run bench -- seed-002', () => {
  it.skipIf('missing' in findRedis())(
    'measures its parts, each limiter with its over-grant',
    async () => {
      const results = folder()
      const { code } = await bench(['seed-002', '--quick', '--seconds', '0.1', '--results', results])
      expect(code).toBe(0)
      const { parts } = JSON.parse(readFileSync(join(results, 'seed-002.json'), 'utf8')) as SuiteResults
      expect(parts.map(({ name, tables, plots }) => [name, tables.length, plots.length])).toEqual([
        ['in-process', 3, 0],
        ['boundary', 1, 2],
        ['redis-lua', 5, 1],
      ])
      const rows = parts.flatMap(({ tables }) => tables.flatMap((table) => table.rows))
      expect(rows.filter((row) => 'wrongAnswers' in row && row.wrongAnswers !== 0 && row.kind === 'ours')).toEqual([])
      expect(rows.every((row) => 'overGrant' in row)).toBe(true)
    },
    240_000,
  )
})
