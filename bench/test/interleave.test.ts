import { describe, expect, it } from 'vitest'
import { interleave, type Lane } from '../src/interleave.ts'

describe('interleave', () => {
  it('takes turns forth and back, counts what was allowed, and leaves the warm-up out', async () => {
    const turns: string[] = []
    const lane = (name: string, allowed: number, later: boolean): Lane => ({
      name,
      run: () => {
        turns.push(name)
        return later ? Promise.resolve(allowed) : allowed
      },
    })
    const timed = await interleave([lane('A', 3, false), lane('B', 5, true)], { calls: 5, warmUp: 1, seconds: 0 })
    expect(turns.slice(0, 6).join('')).toBe('ABABBA')
    expect(timed).toMatchObject([
      { name: 'A', calls: 40, allowed: 24 },
      { name: 'B', calls: 40, allowed: 40 },
    ])
    expect(timed.map(({ rounds }) => rounds.length)).toEqual([8, 8])
  })
})
