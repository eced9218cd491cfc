import { describe, expect, it } from 'vitest'
import { coldResult } from '../src/cold/part.ts'
import type { ColdSample } from '../src/cold/sample.ts'

describe('the table of cold processes', () => {
  const sample = (name: string, imported: number, called: number, undecided = 0): ColdSample => ({
    name,
    cpu: { imported, opened: 1_000, called },
    latency: { first: 2_000, p50: called / 100, p99: called / 10 },
    refused: 0,
    undecided,
  })

  it('holds each process against the baseline’s of the same round: its requests, and all of it', () => {
    const { document } = coldResult([
      [sample('Lua', 10_000, 20_000), sample('Lua', 10_000, 40_000), sample('Lua', 10_000, 10_000)],
      [sample('Sluice', 30_000, 30_000), sample('Sluice', 30_000, 60_000, 2), sample('Sluice', 30_000, 15_000)],
    ])
    expect(document?.split('\n')).toEqual([
      '| way | import | open | calls | calls x | quartiles | in all x | first | p50 | p99 | p50 x | refused | undecided |',
      '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
      '| Lua | 10.0 | 1.0 | 20.0 | 1.00 | 1.00 .. 1.00 | 1.00 | 2.00 | 200 | 2,000 | 1.00 | 0 | 0 |',
      '| Sluice | 30.0 | 1.0 | 30.0 | 1.50 | 1.50 .. 1.50 | 1.97 | 2.00 | 300 | 3,000 | 1.50 | 0 | 2 |',
    ])
  })
})
