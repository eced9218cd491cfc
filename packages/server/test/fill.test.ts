import { parsePolicy } from 'sluice/policy'
import { describe, expect, it } from 'vitest'
import { readingOf } from '../src/page/readings.ts'

const NATIVE = `
version: 1
rules:
  - name: a
    key: []
    tiers:
      - { when: { header:x-plan: slow }, rate: 1/s, burst: 100 }
      - { when: { header:x-plan: big }, rate: 100/s, burst: 1000 }
      - { rate: 10/s, burst: 100 }
`
const TEMPLATE = 'rate_limits:\n  global:\n    capacity: 100\n    refill_rate: 10\n    window: 5s\n'

describe('the time a whole refill takes', () => {
  it.each([
    [NATIVE, 'a', 1_000, 10_000, 10_000],
    [NATIVE, 'a', 100, 100_000, 100_000],
    [NATIVE, 'a', 100, 10_000, 10_000],
    // The template states a window of 5 s, and the view has it. But the bucket of 100 tokens takes 50 s to fill.
    [TEMPLATE, 'global', 100, 5_000, 50_000],
    [TEMPLATE, 'gone', 100, 7_000, 7_000],
  ])('%# of a rule is that of the tier in use', (text, name, limit, windowMs, fillMs) => {
    const view = { name, limit, remaining: 1, replenishAfterMs: 0, resetAfterMs: 0, windowMs }
    expect(readingOf(parsePolicy(text), view, 0).fillMs).toBe(fillMs)
  })
})
