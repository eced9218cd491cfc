import { describe, expect, it } from 'vitest'
import { judgeSizes } from '../src/size.ts'

const SMALL = 'createLimiter + tokenBucket + memoryStore'
const sizes = (small: number, all: number) => ({ [SMALL]: { min: 1, gzip: small }, sluice: { min: 1, gzip: all } })

describe('judgeSizes', () => {
  it('accepts one per cent more than was recorded', () => {
    expect(judgeSizes(sizes(5_050, 8_000), sizes(5_000, 8_000)).ok).toBe(true)
  })

  it('refuses more than that, and names the bundle', () => {
    const { ok, text } = judgeSizes(sizes(5_051, 8_000), sizes(5_000, 8_000))
    expect(ok).toBe(false)
    expect(text.split('\n').filter((line) => line.includes('above the record'))).toEqual([expect.stringContaining(SMALL)])
  })

  it('tells the goal beside every measurement, and does not fail for the distance to it', () => {
    const told = judgeSizes(sizes(6_001, 10_001), sizes(6_001, 10_001))
    expect(told.ok).toBe(true)
    expect(told.text).toContain('goal 6000')
    expect(told.text).toContain('goal 10000')
  })

  it('refuses a bundle without a record', () => {
    expect(judgeSizes(sizes(5_000, 8_000), {})).toMatchObject({ ok: false, text: expect.stringContaining('not recorded') })
  })
})
