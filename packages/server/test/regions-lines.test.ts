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
      watch.update({ status: () => ({ self: 'us', phase, era, peers: {} }) as unknown as ReplicatorStatus }, false)
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

  it('name each outage of the own store, and its end', () => {
    const lines: string[] = []
    const watch = regionLines((_level, event, line) => void lines.push(`${event}: ${line}`), { self: 'us', mode: 'escrow' })
    const status = { self: 'us', phase: 'open', era: 1, peers: {} } as unknown as ReplicatorStatus
    const update = (fails: boolean): void => watch.update({ status: () => status }, fails)
    update(false)
    for (let outage = 0; outage < 2; outage += 1) {
      for (let call = 0; call < 2; call += 1) {
        watch.failed('us', new StoreFailure('unavailable', 'no', 'away'), 'away', 'cannot publish what its callers need')
        update(true)
      }
      update(false)
      update(false)
    }
    expect(lines.slice(1)).toEqual([
      'region-away: region us cannot publish what its callers need: away; trying again',
      'region-back: the store of region us answers again',
      'region-away: region us cannot publish what its callers need: away; trying again',
      'region-back: the store of region us answers again',
    ])
  })

  it('name only once what fails for another reason than the own store', () => {
    const lines: string[] = []
    const watch = regionLines((_level, event) => void lines.push(event), { self: 'us', mode: 'escrow' })
    const status = { self: 'us', phase: 'open', era: 1, peers: {} } as unknown as ReplicatorStatus
    for (let call = 0; call < 3; call += 1) {
      watch.failed('us', new TypeError('a mistake'), 'a mistake', 'cannot publish what its callers need')
      watch.update({ status: () => status }, false)
    }
    expect(lines).toEqual(['region-away', 'region-phase'])
  })
})
