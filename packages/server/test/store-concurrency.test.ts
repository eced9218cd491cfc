import pg from 'pg'
import { createLimiter, tokenBucket } from 'sluice'
import { describe, expect, inject, it } from 'vitest'
import { openStore } from '../src/stores/open-store.ts'
import { run } from './command.ts'

const { postgres } = inject('engines')

describe('the parameter concurrency of a store of PostgreSQL', () => {
  it.skipIf(postgres === undefined).each([
    ['?concurrency=compare-and-swap', ['sluice_swap']],
    ['', ['sluice_state']],
  ])('%j keeps states in %j', async (parameter, [table]) => {
    const space = `concurrency_${process.pid}_${parameter.length}`
    const opened = await openStore((postgres as string) + parameter, { space })
    const client = new pg.Client({ connectionString: postgres })
    await client.connect()
    try {
      const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), store: opened.store, deadlineMs: 10_000 })
      expect([(await limiter.check('a')).outcome, (await limiter.check('a')).outcome]).toEqual(['allowed', 'denied'])
      const { rows } = await client.query(`select count(*)::int as states from ${space}.${table}`)
      expect(rows).toEqual([{ states: 1 }])
    } finally {
      await opened.discard?.()
      await opened.close()
      await client.end()
    }
  })

  it('refuses another value, by name', async () => {
    const { code, stderr } = await run(['migrate', '--store', 'postgres://127.0.0.1/limits?concurrency=cas'])
    expect(code).toBe(3)
    expect(stderr).toContain('concurrency')
  })
})
