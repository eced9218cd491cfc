import { describe, expect, it } from 'vitest'
import { followLedgers } from './hold-traces.ts'
import { LONG } from './long-stores.ts'

/** `SLUICE_HOLD_PART=1` makes all decisions: a million in memory took eight minutes. */
const PART = Number(process.env['SLUICE_HOLD_PART'] ?? 0.2)

describe('many holds', () => {
  it.each(LONG)(
    'on %s are charged and settled as in ledgers of exact rational numbers',
    async (_, all, open) => {
      const decisions = all * PART
      const { store, close } = await open()
      try {
        const met = await followLedgers(store, decisions, 20_261_124, `l${process.pid}`)
        for (const event of ['hold allowed', 'hold denied', 'less', 'more', 'stands', 'repeated', 'overage', 'nothing back']) {
          expect([event, (met.get(event) ?? 0) > decisions / 400]).toEqual([event, true])
        }
      } finally {
        await store.close()
        await close()
      }
    },
    3_600_000,
  )
})
