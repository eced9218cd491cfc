import { tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { findingsOf } from '../src/commands/verify/findings.ts'
import { type Ran, run } from './command.ts'
import { expectExact, SHORT } from './expect-exact.ts'

const verify = (...args: readonly string[]): Promise<Ran> => run(['verify', ...SHORT, ...args])

describe('verify', () => {
  it('finds nothing above the limit in a memory store, and says so', async () => {
    const [json, text] = await Promise.all([verify('--store', 'memory:', '--json'), verify('--store', 'memory:')])
    expectExact(json, 1)
    expect(text.stdout).toMatch(/^memory:: one token bucket of 10\/s, burst 10, called by 1 x 4 callers for [\d.]+ s of the store's time\n/)
    expect(text.stdout).toMatch(/\n {2}allowed +\d+\n {2}theoretical max +\d+\n {2}over-grant +-?\d+\.\d\d %\n/)
  })

  it.each([
    [[], '--store is missing'],
    [['--store', 'mysql://127.0.0.1'], 'unknown kind; expected memory:'],
    [['--store', 'memory:', '--seconds', '0'], 'expected a whole number from 1 to 3600'],
    [['--store', 'memory:', '--callers', '1e3'], 'expected a whole number from 1 to 1024'],
    [['--store', 'memory:', '--burst', '0'], 'expected a whole number from 1'],
    [['--store', 'memory:', '--rate', '10'], '"10" is not a rate'],
    [['--store', 'memory:', '--faults'], 'expected redis://HOST:PORT or postgres://HOST:PORT/DATABASE, not memory:'],
    [['--store', 'rediss://127.0.0.1', '--faults'], '--faults puts a proxy before one server without TLS'],
    [['--store', 'redis+cluster://a,b', '--faults'], '--faults puts a proxy before one server without TLS'],
    [['--store', 'postgres://h/d?sslmode=require', '--faults'], '--faults puts a proxy before one server without TLS'],
    [['--store', 'postgres:///d?host=/tmp', '--faults'], '--faults puts a proxy before one server without TLS'],
    [['--store', 'redis://127.0.0.1', '--faults', '--processes', '2'], '--processes: --faults calls from one process'],
  ])('refuses %j', async (args, line) => {
    expect(await run(['verify', ...args])).toEqual({ code: 3, stdout: '', stderr: expect.stringContaining(line) })
  })

  it('says in one line that a store cannot be reached', async () => {
    const ran = await run(['verify', ...SHORT], { SLUICE_STORE: 'redis://u:secret@127.0.0.1:1' })
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^sluice: store redis:\/\/\*\*\*@127.0.0.1:1 cannot [^\n]+\n$/),
    })
  })
})

describe('the findings', () => {
  const limit = tokenBucket({ rate: '10/s', burst: 10 })
  const at = (count: number, from: number): number[] => Array.from({ length: count }, (_, index) => from + index)

  it('are those of the article: 40 of 40, 123 of 40, 38 of 40', async () => {
    const percents = [40, 123, 38].map(async (allowed) => {
      const tally = { total: 200, allowed: at(allowed, 1_000), first: 0, last: 3_000_000, errors: {} }
      return (await findingsOf([tally], limit)).overGrantPercent
    })
    expect(await Promise.all(percents)).toEqual([0, 207.5, -5])
  })

  it('see a burst in the middle that the whole run hides', async () => {
    const one = { total: 20, allowed: at(7, 1_500_000), first: 0, last: 3_000_000, errors: { timeout: 2 } }
    const other = { total: 30, allowed: at(7, 1_500_000), first: 100, last: 2_900_000, errors: { timeout: 1, other: 1 } }
    const found = await findingsOf([one, other], limit)
    expect(found).toMatchObject({ seconds: 3, total: 50, allowed: 14, theoreticalMax: 40, overGrantPercent: -65 })
    expect(found).toMatchObject({ errors: 4, errorKinds: { timeout: 3, other: 1 } })
    expect(found.worstOverGrant).toBeGreaterThan(3.9)
  })

  it('know nothing of a store that never answered', async () => {
    const tally = { total: 9, allowed: [], first: Number.NaN, last: Number.NaN, errors: { connection: 9 } }
    expect(await findingsOf([tally], limit)).toMatchObject({ seconds: 0, allowed: 0, errors: 9, worstOverGrant: 0 })
  })
})
