import { describe, expect, it } from 'vitest'
import { LONG } from './long-stores.ts'
import { followWaits } from './wait-traces.ts'

/** `SLUICE_WAIT_PART=1` makes all decisions. */
const PART = Number(process.env['SLUICE_WAIT_PART'] ?? 0.2)

describe('many waits', () => {
  it.each(LONG)(
    'on %s are charged ahead and left as an oracle of exact rational numbers says',
    async (name, all, open) => {
      const decisions = all * PART
      const { store, close } = await open()
      try {
        const met = await followWaits(store, decisions, 20_261_125, { prefix: `w${process.pid}`, back: name === 'memory' ? 0 : 1_000_000 })
        for (const event of ['allowed', 'denied', 'impossible', 'waits', 'leaves']) {
          expect([event, (met.get(event) ?? 0) > decisions / 400]).toEqual([event, true])
        }
        console.log(`${name}: ${JSON.stringify([...met])}`)
      } finally {
        await store.close()
        await close()
      }
    },
    3_600_000,
  )
})
