import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'
import { describe, expect, it } from 'vitest'
import { regionLines } from '../src/regions/region-lines.ts'

describe('the lines of a region', () => {
  it('say each era, also one that began between two looks', () => {
    const lines: string[] = []
    const watch = regionLines((_level, _event, line) => void lines.push(line), 'escrow')
    for (const [phase, era] of [
      ['open', 1],
      ['open', 1],
      ['open', 2],
      ['closed', 2],
    ] as const)
      watch.update({ status: () => ({ self: 'us', phase, era, peers: {} }) as unknown as ReplicatorStatus })
    expect(lines).toEqual([
      'region us is open in era 1: it shares its limits',
      'region us is open in era 2: it shares its limits',
      'region us is closed in era 2: it waits for the other regions',
    ])
  })

  it('name a peer once, and once more when the store turns out to be that of another region', () => {
    const lines: string[] = []
    const watch = regionLines((_level, _event, line) => void lines.push(line), 'escrow')
    const refused = new StoreFailure('setup', 'no', 'regions: region eu has this store')
    for (const [error, why] of [
      [new Error(), 'away'],
      [new Error(), 'away'],
      [refused, 'refused'],
      [new Error(), 'away'],
    ] as const)
      watch.failed('eu', error, why, 'cannot be read')
    expect(lines).toEqual(['region eu cannot be read: away; trying again', 'region eu cannot be read: refused; trying again'])
  })
})
