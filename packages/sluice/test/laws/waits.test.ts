import { expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { followWaits } from './wait-traces.ts'

it('waits that are charged ahead, and callers that leave, are answered as by an oracle of exact rational numbers', async () => {
  const met = await followWaits(memoryStore(), 4_000, 20_261_123, { prefix: 'w', back: 0 })
  for (const event of ['allowed', 'denied', 'impossible', 'waits', 'leaves'])
    expect([event, (met.get(event) ?? 0) > 40]).toEqual([event, true])
})
