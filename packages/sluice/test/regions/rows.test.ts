import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRows, encodeRows, isOfRun, storedRows } from '../../src/regions/remote/rows.ts'
import type { RegionalLimit } from '../../src/regions/rights/limit.ts'
import { newRun } from '../../src/regions/rights/recovery.ts'
import type { Rows } from '../../src/regions/rights/state.ts'
import { cellName, cellNamed } from '../../src/stores/batch/cell-name.ts'
import { StoreFailure } from '../../src/stores/store.ts'
import { anyText } from '../any-text.ts'

const regionOf = (run: string) => newRun('eu', run, { version: 1, weights: new Map([['eu', 1_000]]) }, 0)
const region = regionOf('a run')
const number = fc.oneof(fc.nat(1_000), fc.maxSafeNat())
const above = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
const policy = fc.tuple(
  above,
  above,
  fc.oneof(
    above,
    fc.integer({ min: 1, max: 9_007_199_254 }).map((tokens) => tokens * 1_000_000),
  ),
)
const policies = policy.map((numbers) => numbers.join('/'))
const name = anyText({ minLength: 1, maxLength: 8 })
const sent = fc.record({ units: number, tokens: number, policy: policies, base: number })
const received = fc.record({ units: number, tokens: number })
const rowsOf = (limit: string): fc.Arbitrary<Rows> =>
  fc
    .record({
      era: number,
      weight: number,
      whole: fc.constantFrom(undefined, true as const),
      sent: fc.array(
        fc.tuple(
          name,
          fc.oneof(
            sent,
            sent.map((row) => ({ ...row, policy: limit, base: 0 })),
          ),
        ),
        { maxLength: 4 },
      ),
      received: fc.array(fc.tuple(name, received), { maxLength: 4 }),
    })
    .map(({ whole, ...rows }) => ({
      ...rows,
      ...(whole ? { whole } : {}),
      sent: new Map(rows.sent),
      received: new Map([...rows.received, ...rows.sent.slice(1).map(([peer, { units, tokens }]) => [peer, { units, tokens }] as const)]),
    }))

describe('rows on a server', () => {
  it('are read as they were written, whatever the regions are called', () => {
    const all = policies.chain((limit) => rowsOf(limit).map((rows) => ({ limit, rows })))
    fc.assert(
      fc.property(all, ({ limit, rows }) => {
        const stored = storedRows(region, { policy: limit } as RegionalLimit, rows)
        const text = encodeRows(stored)
        expect(text).toMatch(/^[!-~]+( [!-~]+)*$/)
        expect(decodeRows(text)).toEqual(stored)
      }),
    )
  })

  it('take at most 70 bytes in three regions that have sent and received', () => {
    const row = { units: 999, tokens: 99_999_999, policy: '1/10000/100000000', base: 0 }
    const both: Rows = { era: 12, weight: 334, sent: new Map(), received: new Map() }
    const peers = ['us', 'ap'].map((peer) => [peer, row] as const)
    const rows = { ...both, sent: new Map(peers), received: new Map(peers) }
    expect(encodeRows(storedRows(region, { policy: row.policy } as RegionalLimit, rows)).length).toBeLessThanOrEqual(70)
  })

  it('count in the run that wrote them only', () => {
    const rows: Rows = { era: 1, weight: 500, sent: new Map(), received: new Map() }
    const stored = decodeRows(encodeRows(storedRows(region, { policy: '1/10000/100000000' } as RegionalLimit, rows)))
    expect([isOfRun(stored, region), isOfRun(stored, regionOf('another run')), isOfRun(stored, region)]).toEqual([true, false, true])
  })

  it.each([
    '',
    '12345678 B',
    '{"run":"a"}',
    '1234567 B B B/B/B',
    '12345678 B B B/B',
    '12345678 B B B/B/B us>B',
    '12345678 B B B/B/B us<B,B>B,B',
    '12345678 B B B/B/B us>B,B,B,B',
    '12345678 B B B/B/B  us>B,B',
    '12345678 B B B/B/B us>__________,B',
  ])('of another form are refused, not taken for none: %s', (text) => {
    expect(() => decodeRows(text)).toThrow(StoreFailure)
  })
})

describe('the name of a cell', () => {
  it('is read as the scope and the key of which it was made, with what is after it', () => {
    const text = anyText({ maxLength: 300 })
    fc.assert(
      fc.property(text, anyText({ minLength: 1, maxLength: 300 }), (scope, key) => {
        const id = { scope: { text: scope }, key }
        expect(cellNamed(`${cellName(id)} what follows`)).toEqual({ id, rest: 'what follows' })
      }),
    )
  })
})
