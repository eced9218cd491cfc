import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { type SomeFacts, policyBench, FENCES, page } from './choosing-page.ts'

describe('the tuning table', () => {
  it.each([
    ['Interactive API', 'interactive-api.json', 50, 10, 5_000],
    ['Strict steady-rate enforcement', 'steady-rate.json', 10, 10, 1_000],
    ['LLM tool calls', 'llm-tool-calls.json', 100, 100, 1_000],
    ['Background batch job', 'batch-job.json', 100, 10, 10_000],
  ])('%s: %s lets %d pass at once, %d a second later, and is full again after %d ms', async (name, file, atOnce, later, fullMs) => {
    const { decide, flood, clock } = policyBench(file)
    expect(await flood(150)).toBe(atOnce)
    expect(await decide()).toMatchObject({ outcome: 'denied', limits: [{ limit: atOnce, remaining: 0, resetAfterMs: fullMs }] })
    clock.advance(1_000)
    expect(await flood(150)).toBe(later)
    clock.advance(fullMs - 1)
    expect((await decide()).limits[0]?.remaining).toBe(atOnce - 2)
    clock.advance(fullMs)
    expect(await flood(150)).toBe(atOnce)
    const [line] = page.split('\n').filter((text) => text.startsWith(`| [${name}]`))
    const unit = file === 'llm-tool-calls.json' ? ' tokens' : ''
    expect(line).toMatch(new RegExp(`\\| ${atOnce}${unit} \\| ${later}${unit} \\| ${fullMs / 1_000} s \\|$`))
  })
})

describe('Strict steady-rate enforcement', () => {
  it('never more than 20 in one second', async () => {
    const { wander, taken } = policyBench('steady-rate.json')
    await wander({ pauseMs: 200, seed: 16 })
    expect(inOneSecond(taken())).toBeGreaterThan(10)
    expect(inOneSecond(taken())).toBeLessThanOrEqual(20)
  })

  it('a smaller burst is refused in that dialect', () => {
    const text = (FENCES.get('steady-rate.json') ?? '').replace('"burst": 10', '"burst": 9')
    expect(() => parsePolicy(text, { format: 'json' })).toThrow('burst')
  })

  it('the native one has it: one every 100 ms, never two at once', async () => {
    const { wander, taken, flood } = policyBench('steadiest.yaml')
    expect(await flood(5)).toBe(1)
    await wander({ pauseMs: 100, seed: 17 })
    const times = taken()
    expect(times.length).toBeGreaterThan(80)
    for (let index = 1; index < times.length; index += 1)
      expect((times[index] as number) - (times[index - 1] as number)).toBeGreaterThanOrEqual(100_000)
  })
})

describe('LLM tool calls', () => {
  const call = (cost?: string): SomeFacts => ({ headers: { 'x-api-key': 'a', ...(cost === undefined ? {} : { 'x-tool-cost': cost }) } })

  it('two calls of 40 pass at once, the third waits 200 ms; no cost is 1', async () => {
    const { decide, clock } = policyBench('llm-tool-calls.json')
    const left = async (cost?: string): Promise<number | undefined> => (await decide(call(cost))).limits[0]?.remaining
    expect([await left('40'), await left('40')]).toEqual([60, 20])
    expect(await decide(call('40'))).toMatchObject({ outcome: 'denied', retryAfterMs: 200 })
    clock.advance(200)
    expect([await left('40'), (await decide(call())).outcome]).toEqual([0, 'denied'])
    clock.advance(1_000)
    expect(await left()).toBe(99)
  })

  it('a cost above the burst takes the whole bucket with max_cost, and is impossible without it', async () => {
    expect(await policyBench('llm-tool-calls.json').decide(call('500'))).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 0 }] })
    const without = policyBench('llm-tool-calls.json', (text) => text.replace(/,\s*"max_cost": 100/, ''))
    expect(await without.decide(call('500'))).toMatchObject({ outcome: 'impossible' })
  })
})

describe('Background batch job', () => {
  it.each([
    ['batch-job.json', 30],
    ['interactive-api.json', 35],
  ])('with %s a job of 400 calls that waits for retryAfter takes %d s', async (file, seconds) => {
    const { decide, clock } = policyBench(file)
    const started = clock.now()
    for (let done = 0; done < 400;) {
      const { allowed, retryAfterMs = 0 } = await decide()
      if (allowed) done += 1
      else clock.advance(retryAfterMs)
    }
    expect(clock.now() - started).toBe(seconds * 1_000_000)
  })
})

/** The most of these instants that lie within one second. The end of the second does not belong to it. */
function inOneSecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1_000_000).length))
}
