import { describe, expect, it } from 'vitest'
import { remoteStore } from '../../../src/stores/remote/remote-store.ts'
import { type Leased, StoreFailure } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { call } from './lease-bench.ts'
import { leasingStore } from './leasing-store.ts'
import { outcomeOf } from './ring-bench.ts'

/** A ring with leases. While `away` is set, requests for keys that begin with `lost` fail. */
function bench() {
  const clock = manualClock()
  const inner = leasingStore(clock)
  const wire = { away: false, requests: 0 }
  const ring = remoteStore(
    {
      ...inner,
      async lease(requests, options) {
        wire.requests += 1
        const granted = await inner.lease(requests, options)
        return requests.map(({ call: { id } }, index) =>
          wire.away && id.key.startsWith('lost')
            ? { failure: new StoreFailure('readonly', 'no', 'its slot cannot write') }
            : (granted[index] as Leased),
        )
      },
    },
    { clock, denials: false, leases: { afterCalls: 1, share: 0.5 } },
  )
  const { scope } = call('k').id
  const group = (key: string) => ({ calls: [{ ...call(key), id: { scope, key } }] })
  const decide = async (...keys: string[]): Promise<string[]> =>
    (await Promise.all(keys.map((key) => ring.decide([group(key)]))))
      .flat()
      .map((verdict) => `${outcomeOf(verdict)} ${verdict.calls ? verdict.source : ''}`)
  return { ring, wire, group, decide }
}

describe('a request for a lease that fails', () => {
  it('fails alone: the others of its batch are leased', async () => {
    const { ring, wire, decide } = bench()
    wire.away = true
    expect(await decide('a', 'lost', 'b')).toEqual(['allowed lease', 'readonly no ', 'allowed lease'])
    expect(wire.requests).toBe(1)
    await ring.close()
  })

  it('to give tokens back fails the peek and the change of its key, and no other', async () => {
    const { ring, wire, group, decide } = bench()
    await decide('a', 'lost', 'b')
    wire.away = true
    const peeked = await ring.decide(['a', 'lost', 'b'].map(group), { charge: false })
    expect(peeked.map(outcomeOf)).toEqual(['allowed', 'readonly no', 'allowed'])
    wire.away = false
    await settle()
    await decide('a', 'lost', 'b')
    wire.away = true
    const changed = await ring.change(['a', 'lost'].map((key) => ({ kind: 'reset', id: group(key).calls[0]?.id as never })))
    expect(changed.map(({ failure }) => failure?.kind)).toEqual([undefined, 'readonly'])
    await ring.close()
  })
})
