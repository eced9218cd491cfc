import { describe, expect, it } from 'vitest'
import { counted } from '../src/logs/counted.ts'
import { changeWeights } from '../src/commands/regions/change.ts'
import { statusText } from '../src/commands/regions/status-text.ts'
import type { ParsedArguments } from '../src/cli/verb.ts'
import type { RegionStatus } from '../src/regions/region-status.ts'

const transfers = { sent: 1, received: 1, unitsSent: 1, unitsReceived: 1 }
const peer = { address: 'http://eu/', run: 'r', lagMs: 1_000, readMs: 1_000, failures: 0, error: undefined }
const STATUS: RegionStatus = {
  self: 'us',
  mode: 'escrow',
  phase: 'open',
  era: 3,
  units: 500,
  cells: 1,
  transfers,
  requestsRefused: 1,
  weights: { eu: 500, us: 500 },
  peers: { eu: peer },
}

describe('the text of regions status', () => {
  it('uses the singular', () => {
    expect(statusText(STATUS).slice(0, 3)).toEqual([
      'region us, era 3, open: it sends units and receives them',
      '  500 of 1000 units of a key without transfers; 1 key with transfers in this era',
      '  since the start: 1 unit sent in 1 transfer, 1 received in 1; 1 request refused',
    ])
  })

  it('says that a removed region is not a member', () => {
    expect(statusText({ ...STATUS, weights: { eu: 1_000 }, units: 0 })[0]).toBe(
      'region us, era 3, open, but not a member: it holds nothing, and denies every call of a token bucket until it is added',
    )
  })

  it('says that the own store does not answer, and blames no peer', () => {
    const why = "the store of this region does not answer: redis: Stream isn't writeable"
    const text = statusText({ ...STATUS, storeFailure: why, peers: { eu: { ...peer, failures: 1, error: why } } })
    expect([text[0], text.at(-1)]).toEqual([`region us, era 3: ${why}`, `eu cannot be read: ${why}`])
    expect(text.join('\n')).not.toContain('sends units')
  })
})

const REMOVED: RegionStatus = { ...STATUS, self: 'eu', weights: { eu: 1_000 }, peers: { us: peer } }

/** Runs a change. `statuses` are those that the service has, one after the other. */
async function change(action: string, name: string, statuses: readonly RegionStatus[] = [REMOVED]) {
  const calls: object[] = []
  let said = ''
  let looked = 0
  const args = {
    words: [action, name],
    text: () => undefined,
    switch: () => action === 'adopt',
    called: (flag: string) => flag,
  } as unknown as ParsedArguments
  const service = {
    status: async () => statuses[looked++] ?? REMOVED,
    reweigh: async (wanted: object) => void calls.push(wanted),
  }
  const io = { err: (text: string) => void (said += text) } as Parameters<typeof changeWeights>[2]
  const status = await changeWeights(service, args, io)
  return { status, calls, said }
}

describe('a change of weights', () => {
  it('says once what the present era waits for', async () => {
    const before: RegionStatus = { ...REMOVED, weights: { eu: 500, us: 500 } }
    const away: RegionStatus = { ...before, phase: 'closed', peers: { us: { ...peer, lagMs: 9_000 } } }
    const { status, calls, said } = await change('drain', 'us', [before, away, away, { ...before, era: 4 }])
    expect([status.era, calls]).toEqual([4, [{ weights: { eu: 1_000, us: 0 } }]])
    expect(said).toBe('sluice: regions: era 3 ends: waits for us, which cannot be read\n')
  })
})

describe('a region that was removed', () => {
  it.each(['adopt', 'remove'])('needs no second %s', async (action) => {
    const { status, calls, said } = await change(action, 'us')
    expect([status.weights, calls]).toEqual([{ eu: 1_000 }, []])
    expect(said).toBe('sluice: regions: us is not a member: it was removed already, or has not been added yet\n')
  })

  it('cannot be drained, and a region that nobody knows is refused as before', async () => {
    await expect(change('drain', 'us')).rejects.toThrow('us is not a member: it was removed, or has not been added yet')
    await expect(change('remove', 'ap')).rejects.toThrow('regions: NAME is "ap": expected one of eu')
  })
})

it('counts in the singular and in the plural', () => {
  expect([counted(0, 'rule'), counted(1, 'rule'), counted(2, 'rule')]).toEqual(['0 rules', '1 rule', '2 rules'])
})
