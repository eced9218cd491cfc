import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { type SomeFacts, policyBench, FENCES, page, policyOf } from './choosing-page.ts'
import { draws } from '../draws.ts'
import { bothRegions } from './choosing-regions.ts'

const key = (name: string): SomeFacts => ({ headers: { 'x-api-key': name } })

/** The rows of one of the page's tables: each has the name of a scenario, and the heading that it links to. */
function rows(heading: string): { name: string; anchor: string }[] {
  const part = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  return [...part.matchAll(/^\| \[([^\]]+)\]\(#([^)]+)\) \|/gm)].map(([, name = '', anchor = '']) => ({ name, anchor }))
}

describe('the page about choosing', () => {
  it.each([
    [
      'The decision matrix',
      [
        'Low traffic, simple limits',
        'High burst, fair usage',
        'Strict accuracy required',
        'Multi-region global limit',
        'Cost-sensitive, approximate',
      ],
    ],
    ['The tuning table', ['Interactive API', 'Strict steady-rate enforcement', 'LLM tool calls', 'Background batch job']],
  ])('%s has every row of its document, each with a policy under a heading of its own', (heading, names) => {
    expect(rows(heading).map(({ name }) => name)).toEqual(names)
    for (const { name, anchor } of rows(heading)) {
      expect(anchor).toBe(name.toLowerCase().replaceAll(',', '').replaceAll(' ', '-'))
      expect(page.split(/^#+ /m).find((text) => text.startsWith(`${name}\n`))).toMatch(/^```(?:yaml|json) file=/m)
    }
  })

  it('has no policy that is not tested', () => {
    const tests = ['choosing', 'choosing-tuning'].map((name) => readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8')).join('')
    for (const file of FENCES.keys()) expect(tests).toContain(`'${file}'`)
    expect(FENCES.size).toBe(10)
  })

  it('has policies that load without a warning, but for the one that the page mentions', () => {
    for (const file of FENCES.keys()) {
      const { warnings } = policyOf(file, { strict: true })
      if (file === 'low-traffic.yaml') expect(warnings).toEqual([expect.stringContaining('may admit 200 around its end')])
      // A bundle also says what it meant where it came from.
      else expect(warnings.filter((line) => !line.includes('and Fairvisor skips the rule'))).toEqual([])
    }
  })
})

describe('Low traffic, simple limits', () => {
  const row = (): ReturnType<typeof policyBench> => policyBench('low-traffic.yaml')

  it('100 in each minute of the clock, for each address; the next waits for its end', async () => {
    const { decide, flood, toMinute, clock } = row()
    toMinute()
    clock.advance(20_000)
    expect(await flood(150)).toBe(100)
    expect(await decide()).toMatchObject({ outcome: 'denied', retryAfterMs: 40_000, limits: [{ remaining: 0 }] })
    expect(await flood(150, { ip: '192.0.2.2' })).toBe(100)
    clock.advance(39_999)
    expect(await flood(1)).toBe(0)
    clock.advance(1)
    expect(await flood(150)).toBe(100)
  })

  it('around the end of a minute 200 pass within a moment', async () => {
    const { flood, toMinute, clock } = row()
    toMinute()
    clock.advance(59_999)
    const before = await flood(150)
    clock.advance(1)
    expect(before + (await flood(150))).toBe(200)
  })

  it('align spreads the resets, and ramp lets the limit grow', async () => {
    const spread = policyBench('low-traffic.yaml', (text) => text.replace('1min }', '1min, align: key }'))
    const waits = new Set<number | undefined>()
    for (let client = 1; client <= 20; client += 1) {
      await spread.flood(100, { ip: `192.0.2.${client}` })
      waits.add((await spread.decide({ ip: `192.0.2.${client}` })).retryAfterMs)
    }
    expect(waits.size).toBeGreaterThan(15)
    const soft = policyBench('low-traffic.yaml', (text) => text.replace('1min }', '1min, ramp: 10s }'))
    soft.toMinute()
    soft.clock.advance(1_000)
    expect(await soft.flood(150)).toBe(10)
    soft.clock.advance(9_000)
    expect(await soft.flood(150)).toBe(90)
  })

  it('a restart begins anew, and two processes let twice as much pass', async () => {
    const [one, other] = [row(), row()]
    expect([one.engine.policy.store, await one.flood(150), await other.flood(150)]).toEqual(['memory:', 100, 100])
  })
})

describe('High burst, fair usage', () => {
  const row = (): ReturnType<typeof policyBench> => policyBench('high-burst.yaml')

  it('100 at once after ten silent seconds, then one every 100 ms', async () => {
    const { decide, flood, clock } = row()
    expect(await flood(150, key('a'))).toBe(100)
    expect(await decide(key('a'))).toMatchObject({ outcome: 'denied', retryAfterMs: 100, limits: [{ resetAfterMs: 10_000 }] })
    for (let step = 0; step < 50; step += 1) {
      clock.advance(99)
      expect(await flood(1, key('a'))).toBe(0)
      clock.advance(1)
      expect(await flood(2, key('a'))).toBe(1)
    }
    clock.advance(10_000)
    expect(await flood(150, key('a'))).toBe(100)
  })

  it('over every interval of length t at most 100 + 10 t pass', async () => {
    const { wander, over } = row()
    await wander({ pauseMs: 200, seed: 11 }, key('a'))
    expect(over()).toBe(0)
    expect(over({ rate: '10/s', burst: 99 })).toBeGreaterThan(0)
  })

  it('a client that floods takes nothing from another', async () => {
    const { flood } = row()
    expect([await flood(1_000, key('a')), await flood(150, key('b'))]).toEqual([100, 100])
  })

  it('while the store is away at most 400 pass above the limit', () => {
    const policy = policyOf('high-burst.yaml')
    expect(policy.store).toBe('redis://127.0.0.1:6379')
    expect(policy.rules.map((rule) => policy.boundOf(rule, 'shared').storeDown)).toEqual([400])
  })
})

describe('Strict accuracy required', () => {
  const login: SomeFacts = { method: 'POST', path: '/login' }
  const row = (maxBytes?: number): ReturnType<typeof policyBench> => policyBench('strict-accuracy.yaml', undefined, maxBytes)
  const HOUR = 3_600_000

  it('five in every hour, wherever it begins', async () => {
    const { wander, taken } = row()
    await wander({ pauseMs: 60_000, seed: 12 }, login)
    const times = taken()
    expect(times.length).toBeGreaterThan(30)
    // The sixth after any attempt is at least an hour later.
    for (let index = 5; index < times.length; index += 1)
      expect((times[index] as number) - (times[index - 5] as number)).toBeGreaterThanOrEqual(HOUR * 1_000)
  })

  it('a place is free exactly one hour after the attempt that took it, also across a reset of the clock', async () => {
    const { decide, flood, toHour, clock } = row()
    toHour()
    clock.advance(HOUR - 1_000)
    expect(await flood(9, login)).toBe(5)
    clock.advance(2_000)
    expect(await decide(login)).toMatchObject({ outcome: 'denied', retryAfterMs: HOUR - 2_000 })
    clock.advance(HOUR - 2_001)
    expect(await flood(9, login)).toBe(0)
    clock.advance(1)
    expect(await flood(9, login)).toBe(5)
  })

  it('without memory for the next entry it does not decide, and forgets nothing', async () => {
    const { decide, clock } = row(64)
    const outcomes: string[] = []
    for (let attempt = 0; attempt < 6; attempt += 1) {
      outcomes.push((await decide(login)).outcome)
      clock.advance(1)
    }
    expect(outcomes).toEqual(['allowed', 'allowed', 'allowed', 'allowed', 'undecided', 'undecided'])
  })

  it('a limit above 10,000 is refused when it is read', () => {
    const text = FENCES.get('strict-accuracy.yaml') ?? ''
    expect(() => parsePolicy(text.replace('limit: 5', 'limit: 10000'))).not.toThrow()
    expect(() => parsePolicy(text.replace('limit: 5', 'limit: 10001'))).toThrow('the largest is 10000')
  })
})

describe('Multi-region global limit', () => {
  const GLOBAL = { rate: '100/s', burst: 200 }

  it('is the policy that comes with the service, and the one that docs/regions.md starts', () => {
    const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
    expect(read('packages/server/policies/two-regions.yaml')).toBe(FENCES.get('two-regions.yaml'))
    expect(read('docs/regions.md')).toContain(`\`\`\`yaml file=two-regions.yaml\n${FENCES.get('two-regions.yaml')}\`\`\`\n`)
  })

  it('together the regions never pass the limit, also while they cannot reach each other', async () => {
    const { eu, us, open, cut, pass } = bothRegions()
    const bursts = draws(200, 50)
    await open()
    for (const [seed, isCut] of [false, true, false].entries()) {
      cut(isCut)
      await eu.wander({ pauseMs: 100, seed: 13 + seed, bursts })
      await us.wander({ pauseMs: 100, seed: 23 + seed, bursts })
      await pass(5_000, async () => void (await us.flood(5)))
    }
    expect(eu.over(GLOBAL, us.trace)).toBe(0)
    expect(eu.over({ rate: '50/s', burst: 100 }, us.trace)).toBeGreaterThan(0)
  })

  it('each region begins with a half, and a region with all requests soon gets nearly all of the limit', async () => {
    const { eu, us, open, pass } = bothRegions()
    expect(await eu.flood(5)).toBe(0)
    await open()
    await pass(2_000)
    expect([await eu.flood(300), await us.flood(300)]).toEqual([100, 100])
    await pass(5_000, async () => void (await eu.flood(10)))
    let passed = 0
    await pass(10_000, async () => void (passed += await eu.flood(10)))
    expect(passed).toBeGreaterThanOrEqual(950)
    expect(passed).toBeLessThanOrEqual(1_000 + 200)
    expect(eu.over(GLOBAL, us.trace)).toBe(0)
  })

  it('a region that is cut off goes on with what it holds, and the other cannot use that', async () => {
    const { eu, us, open, pass, cut } = bothRegions()
    await open()
    await pass(5_000, async () => void (await eu.flood(10)))
    cut(true)
    let [ofEu, ofUs] = [0, 0]
    await pass(10_000, async () => {
      ofEu += await eu.flood(10)
      ofUs += await us.flood(10)
    })
    expect(ofEu).toBeGreaterThanOrEqual(900)
    expect(ofUs).toBeLessThanOrEqual(50)
    expect(eu.over(GLOBAL, us.trace)).toBe(0)
  })
})

describe('Cost-sensitive, approximate', () => {
  const log = (text: string): string => text.replace('sliding-window-counter', 'sliding-window-log')

  it('a state needs no more memory for more calls, where a log does', async () => {
    const counter = policyBench('approximate.yaml', (text) => text.replace('1000,', '1000000,'), 64)
    const entries = policyBench('approximate.yaml', log, 64)
    for (const { decide, clock } of [counter, entries])
      for (let call = 0; call < 5; call += 1) {
        await decide(key('a'))
        clock.advance(1)
      }
    expect((await counter.decide(key('a'))).outcome).toBe('allowed')
    expect((await entries.decide(key('a'))).outcome).toBe('undecided')
    expect(counter.store.size).toBe(1)
  })

  it('half of the limit is back half a minute after a minute that was used up', async () => {
    const { flood, toMinute, clock } = policyBench('approximate.yaml')
    toMinute()
    expect(await flood(1_500, key('a'))).toBe(1_000)
    clock.advance(60_000)
    expect(await flood(1_500, key('a'))).toBe(0)
    clock.advance(30_000)
    expect(await flood(1_500, key('a'))).toBe(500)
  })

  it('1000 in the last second, 500 more half a minute later, where a log gives none yet', async () => {
    const passed = async ({ flood, toMinute, clock }: ReturnType<typeof policyBench>): Promise<number[]> => {
      toMinute()
      clock.advance(59_500)
      const first = await flood(1_500, key('a'))
      clock.advance(30_500)
      return [first, await flood(1_500, key('a'))]
    }
    expect(await passed(policyBench('approximate.yaml'))).toEqual([1_000, 500])
    expect(await passed(policyBench('approximate.yaml', log))).toEqual([1_000, 0])
  })

  it('over every interval of length t at most 1000 + 1000 t / 1 min pass', async () => {
    const { wander, over } = policyBench('approximate.yaml')
    await wander({ pauseMs: 100, seed: 15 }, key('a'))
    expect(over()).toBe(0)
    expect(over({ rate: '1000/min', burst: 500 })).toBeGreaterThan(0)
  })

  it('a caller that calls evenly, twice as fast as allowed, gets at least 999 in every minute, where a log gives 1000', async () => {
    const count = draws(4, 2)
    const perMinute = async ({ flood, toMinute, clock }: ReturnType<typeof policyBench>): Promise<number[]> => {
      toMinute()
      const minutes: number[] = []
      for (let minute = 0; minute < count; minute += 1) {
        let passed = 0
        for (let half = 0; half < 2_000; half += 1) {
          passed += await flood(1, key('a'))
          clock.advance(30)
        }
        minutes.push(passed)
      }
      return minutes
    }
    expect(await perMinute(policyBench('approximate.yaml'))).toEqual([1_000, 999, 999, 999].slice(0, count))
    expect(await perMinute(policyBench('approximate.yaml', log))).toEqual(Array.from({ length: count }, () => 1_000))
  })
})
