import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'
import { overBudget } from '../../src/policy/model/bound.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import type { Rule } from '../../src/policy/model/rule.ts'

const read = (regions: string): Policy['regions'] => parsePolicy(`version: 1\nrules: []\nregions: ${regions}\n`).regions

/** The mistakes of a section, each with where it is. */
function mistakes(regions: string): string[] {
  try {
    read(regions)
    return []
  } catch (error) {
    if (error instanceof PolicyError) return error.issues.map(({ message }) => message)
    throw error
  }
}

describe('the regions of a policy', () => {
  it.each([
    ['{ peers: [eu, us] }', { mode: 'escrow', peers: [{ name: 'eu' }, { name: 'us' }] }],
    [
      '{ self: eu, peers: [us=https://us.example], mode: fixed }',
      { self: 'eu', mode: 'fixed', peers: [{ name: 'us', url: 'https://us.example' }] },
    ],
    [
      '{ peers: [eu, us], weights: { us: 400, eu: 500 } }',
      { mode: 'escrow', peers: [{ name: 'eu' }, { name: 'us' }], weights: { us: 400, eu: 500 } },
    ],
    ['{ self: eu, peers: [us], weights: { us: 0, eu: 1000 } }', { self: 'eu', weights: { us: 0, eu: 1_000 } }],
    ['{ weights: { eu: 1 } }', { peers: [], weights: { eu: 1 } }],
    ['{ peers: [eu, us], mode: counters, cutoff: 2s }', { mode: 'counters', cutoffMs: 2_000 }],
    ['{ peers: [eu, us], mode: counters, cutoff: 10s }', { mode: 'counters', cutoffMs: 10_000 }],
  ])('%s', (text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  it('are absent without the section, and the same in all dialects', () => {
    expect(parsePolicy('version: 1\nrules: []\n')).not.toHaveProperty('regions')
    const section = 'regions: { peers: [eu, us] }\n'
    const template = parsePolicy(`rate_limits:\n  global: { capacity: 4, refill_rate: 1 }\n${section}`)
    const bundle = parsePolicy(
      `rules: [{ name: a, limit_keys: ["ip:address"], algorithm: token_bucket, algorithm_config: { tokens_per_second: 1, burst: 1 } }]\n${section}`,
    )
    expect([template.dialect, bundle.dialect]).toEqual(['rate-limits', 'bundle'])
    for (const { regions } of [template, bundle]) expect(regions).toEqual(read('{ peers: [eu, us] }'))
  })

  it.each([
    ['eu', 'regions is "eu": expected a map'],
    ['{ peer: [us] }', 'regions.peer is unknown: did you mean peers? allowed are self, peers, weights, mode, cutoff'],
    ['{ peers: [eu], cutoff: 10s }', 'regions.cutoff is for mode counters, and the mode is escrow'],
    ['{ peers: [eu], mode: counters, cutoff: 1999ms }', 'regions.cutoff: expected 2 seconds to a day'],
    ['{ mode: fixed }', 'regions has neither peers nor weights: expected one of them, with the names of the regions'],
    ['{ self: "e u", peers: [us] }', 'regions.self is "e u": expected a name of at most 64 letters'],
    ['{ self: 7, peers: [us] }', 'regions.self is 7: expected a name'],
    ['{ peers: us }', 'regions.peers is "us": expected a list of 1 to 1000 regions'],
    ['{ peers: [] }', 'regions.peers is an empty list: expected a list of 1 to 1000 regions'],
    ['{ peers: [us, eu, us] }', 'regions.peers[2] names us again: expected each region once'],
    ['{ peers: [{ us: x }] }', 'regions.peers[0] is not a region: expected NAME or NAME=URL'],
    ['{ peers: ["=https://h"] }', 'regions.peers[0] is not a region'],
    [
      '{ peers: [us=ftp://h] }',
      'regions.peers[0] has no usable address for us: expected http:// or https://, without login, query and fragment',
    ],
    ['{ peers: [us=] }', 'regions.peers[0] has no usable address for us'],
    ['{ peers: ["us=https://ada:secret@h"] }', 'regions.peers[0] has no usable address for us'],
    ['{ peers: ["us=https://h?secret=1"] }', 'regions.peers[0] has no usable address for us'],
    ['{ weights: 500 }', 'regions.weights is 500: expected a map of regions'],
    ['{ weights: { eu: -1 } }', 'regions.weights.eu is -1: expected a whole number from 0 to 1000'],
    ['{ weights: { eu: 600, us: 500 } }', 'regions.weights are 1100 together: expected 1 to 1000'],
    ['{ weights: { eu: 0, us: 0 } }', 'regions.weights are 0 together: expected 1 to 1000'],
    ['{ weights: {} }', 'regions.weights are 0 together'],
    ['{ weights: { "e/u": 5 } }', 'regions.weights["e/u"]: expected a name'],
    ['{ peers: [eu, us], weights: { eu: 5 } }', 'regions.weights has no weight for us: expected the weights of all regions'],
    ['{ self: eu, peers: [us], weights: { us: 5 } }', 'regions.weights has no weight for eu'],
    ['{ peers: [eu, us], weights: { eu: 5, us: 5, ap: 5 } }', 'regions.weights.ap: peers has no region of this name'],
    ['{ peers: [us], mode: counter }', 'regions.mode is "counter": expected escrow, fixed, counters'],
  ])('%s is one clear mistake: %s', (text, message) => {
    expect(mistakes(text)).toEqual([expect.stringContaining(message)])
    expect(mistakes(text).join()).not.toContain('secret')
  })

  it('with counters may exceed a bucket by the burst and the rate of the cutoff for each other region', () => {
    const rule = 'rules: [{ name: a, key: [], rate: 10/s, burst: 50, maxOvergrant: MOST }]'
    const policy = (section: string, most: string): Policy =>
      parsePolicy(`version: 1\n${rule.replace('MOST', most)}\nregions: { peers: [ap, eu, us], mode: counters${section} }\n`)
    // 2 * (50 + 10 * 3)
    const exact = policy(', cutoff: 3s', '160')
    expect(exact.boundOf(exact.rules[0] as Rule, 'process')).toMatchObject({
      running: 160,
      storeDown: 0,
      text: expect.stringContaining('160, which is (N - 1) (B + r S) for 3 regions and a cutoff of 3000 ms'),
    })
    expect(overBudget(exact, exact.rules[0] as Rule, 'process')).toBe(undefined)
    const smaller = policy(', cutoff: 3s', '159')
    expect(overBudget(smaller, smaller.rules[0] as Rule, 'process')).toContain('159 is below its bound on this store, 160')
    const wide = policy(', cutoff: 3s }\noverrides: [{ rule: a, key: [], rate: 1/s, burst: 100 }]\n#', 'unbounded')
    expect(wide.boundOf(wide.rules[0] as Rule, 'process')).toMatchObject({
      running: 206,
      text: expect.stringContaining('a cutoff of 3000 ms, for the limit of an override,'),
    })
    const open = policy('', 'unbounded')
    expect(open.boundOf(open.rules[0] as Rule, 'process')).toMatchObject({ running: Infinity, text: expect.stringContaining('unbounded') })
    const window = parsePolicy(
      'version: 1\nrules: [{ name: a, key: [], algorithm: fixed-window, limit: 5, window: 1m }]\nregions: { peers: [eu, us], mode: counters }\n',
    )
    expect(window.boundOf(window.rules[0] as Rule, 'process').running).toBe(0)
  })
})
