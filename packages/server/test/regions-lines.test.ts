import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'
import { describe, expect, it } from 'vitest'
import { regionLines } from '../src/regions/region-lines.ts'

describe('the lines of a region', () => {
  it('say each era, also one that began between two looks', () => {
    const lines: string[] = []
    const watch = regionLines((_level, _event, line) => void lines.push(line), { self: 'us', mode: 'escrow' })
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
    const watch = regionLines((_level, _event, line) => void lines.push(line), { self: 'us', mode: 'escrow' })
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

  it('name each time in which the region cannot publish, and its end', () => {
    const lines: string[] = []
    const watch = regionLines((_level, event, line) => void lines.push(`${event}: ${line}`), { self: 'us', mode: 'escrow' })
    const status = { self: 'us', phase: 'open', era: 1, peers: { eu: { failures: 0 } } } as unknown as ReplicatorStatus
    const seconds = (count: number): void => {
      for (let second = 0; second < count; second += 1) watch.update({ status: () => status })
    }
    const fail = (error: unknown): void => watch.failed('us', error, 'away', 'cannot publish what its callers need')
    seconds(100)
    // Reads succeed all the time, and each attempt to publish takes ten seconds.
    for (const error of [new StoreFailure('unavailable', 'no', 'full'), new TypeError('a mistake')]) {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        fail(error)
        seconds(10)
      }
      seconds(10)
    }
    expect(lines.slice(1)).toEqual([
      'region-away: region us cannot publish what its callers need: away; trying again',
      'region-back: region us can publish again',
      'region-away: region us cannot publish what its callers need: away; trying again',
      'region-back: region us can publish again',
    ])
  })
})
