import { StoreFailure } from 'sluice'
import type { ReplicatorStatus } from 'sluice/regions'
import { describe, expect, inject, it } from 'vitest'
import { statusOf } from '../src/regions/region-status.ts'
import { followOwnStore } from '../src/regions/own-store.ts'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis
const file = policyFiles()
const GONE = new StoreFailure('connection', 'no', "redis: Stream isn't writeable")
const WHY = "the store of this region does not answer: redis: Stream isn't writeable"

/** The status of the replicator of region us. `lagMs` ago, it last began a pull that read everything. */
const replicator = (lagMs: number, error?: string): ReplicatorStatus => ({
  self: 'us',
  phase: 'open',
  era: 3,
  weights: { eu: 500, us: 500 },
  units: 500,
  cells: 0,
  transfers: { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 },
  peers: { eu: { run: 'r', lagMs, readMs: undefined, failures: error === undefined ? 0 : 1, error } },
})

describe('the own store of a region', () => {
  it('is named when it fails, and not its peers', () => {
    let now = 10_000
    const own = followOwnStore('us', () => now)
    expect(own.failed('eu', GONE)).toBe(WHY)
    now += 1_000
    const status = statusOf('escrow', replicator(1_500, GONE.message), new Map(), { refused: 0, failed: new Map() }, own)
    expect(status).toMatchObject({ storeFailure: WHY, peers: { eu: { error: WHY } } })
    // A pull that began later has read the peer.
    expect(own.failure(replicator(500))).toBeUndefined()
  })

  it('has answered when the peer is to blame', () => {
    const own = followOwnStore('us', () => 10_000)
    own.failed('us', GONE)
    own.failed('eu', GONE)
    expect(own.failed('eu', new Error('http://eu cannot be reached'))).toBe('http://eu cannot be reached')
    expect([own.failure(replicator(9_000)), own.reasonOf('eu', 'http://eu')]).toEqual([undefined, 'http://eu'])
  })

  it('that refuses this region is not called away', () => {
    const own = followOwnStore('us')
    expect(own.failed('eu', new StoreFailure('setup', 'no', 'regions: region eu has this store'))).toBe(
      'the store of this region cannot be used: regions: region eu has this store',
    )
  })

  it.skipIf(redis === undefined)('of another region ends the service at its start', async () => {
    const store = new URL(redis as string)
    store.pathname = '/7'
    const policy = file(
      'version: 1\nfailure: { deadline: 20s }\nregions: { peers: [eu=http://127.0.0.1:1, us=http://127.0.0.1:2] }\nrules: [{ name: all, key: [], rate: 1/s, burst: 9 }]\n',
    )
    const args = [policy, '--store', store.href, '--region-key-file', file('a-key-of-regions-of-32-characters-or-more')]
    const eu = await serve([...args, '--region', 'eu'])
    const metrics = async (): Promise<string> => (await fetch(`${eu.url}/metrics`)).text()
    await expect.poll(metrics).toContain('sluice_region_store_failing 0\n')
    const us = await run(['serve', ...args, '--region', 'us', '--log-format', 'text'], { PORT: '0' })
    expect([us.code, us.stderr]).toEqual([3, expect.stringContaining('region eu has this store, and region us needs one of its own')])
    expect(us.stderr.trim().split('\n')).toHaveLength(1)
    expect(await eu.stop()).toBe(0)
  })
})
