import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
    const { tables = [] } = coldResult(
      [
        { samples: [sample('Lua', 10_000, 20_000), sample('Lua', 10_000, 40_000), sample('Lua', 10_000, 10_000)] },
        {
          samples: [sample('Sluice', 30_000, 30_000), sample('Sluice', 30_000, 60_000, 2), sample('Sluice', 30_000, 15_000)],
          disturbed: 'steal 9 %',
        },
      ],
      [
        { kind: 'baseline', overGrant: 0 },
        { kind: 'ours', overGrant: 0 },
      ],
    )
    const [lua, sluice] = tables[0]?.rows ?? []
    expect(lua).toMatchObject({
      name: 'Lua',
      kind: 'baseline',
      cells: { imported: { median: 10 }, calledX: { median: 1 }, allX: { median: 1 } },
    })
    expect(lua).not.toHaveProperty('disturbed')
    expect(sluice).toMatchObject({
      kind: 'ours',
      disturbed: 'steal 9 %',
      cells: {
        opened: { median: 1 },
        called: { median: 30 },
        calledX: { low: 1.5, median: 1.5, high: 1.5 },
        first: 2,
        p50: 300,
        p99: 3_000,
        undecided: 2,
      },
      wrongAnswers: 0,
    })
    expect(sluice?.cells['allX']).toMatchObject({ median: 61 / 31 })
  })
})

/** The packages that a file of the bench loads when it is imported, by whatever other files. */
function packagesOf(file: string, seen: Set<string> = new Set()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^'"]*from '([^']+)'/gm)) {
    const found = from.startsWith('.') ? packagesOf(join(dirname(file), from), seen) : [from]
    for (const name of found) packages.add(name)
  }
  return packages
}

describe('the import of a cold process', () => {
  const loaded = (path: string): string[] => [...packagesOf(join(import.meta.dirname, '..', 'src', path))]

  it('is that of its way and its engine: no client of the other engine, which would cost more than all of Sluice', () => {
    expect(loaded('contestants/sluice.ts')).toEqual(expect.arrayContaining(['sluice', 'sluice/redis', 'ioredis']))
    for (const way of ['sluice', 'update', 'flexible']) expect(loaded(`postgres/${way}.ts`)).not.toContain('ioredis')
    for (const way of ['sluice', 'lua', 'flexible', 'express-store']) expect(loaded(`contestants/${way}.ts`)).not.toContain('pg')
  })
})
