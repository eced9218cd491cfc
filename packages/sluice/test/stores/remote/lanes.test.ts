import { describe, expect, it } from 'vitest'
import type { CallGroup } from '../../../src/stores/store.ts'
import { type HeldStore, settle } from './held-store.ts'
import { call, group, groups, keys, outcomeOf, reset, ringBench } from './ring-bench.ts'
import { type Answered, counts, DEADLINE_MS, slowest, wireBench } from './wire-bench.ts'
import { draws } from '../../draws.ts'

describe('R1, R12: one server of three', () => {
  it.each((['away', 'silent', 'refusing', 'hung'] as const).slice(0, draws(4, 1)))(
    'that is %s: calls to the others are unaffected, and refusals stay in its lane',
    async (state) => {
      const { ask, pass, ring, server, sent } = wireBench({}, true)
      const [healthy, lists, lost]: [Answered[], Answered[], Answered[]] = [[], [], []]
      const load = (at: number): void => {
        for (const name of ['a', 'b']) for (let caller = 0; caller < 2; caller += 1) healthy.push(ask(`${name}${at}:${caller}`))
        for (let caller = 0; caller < 2; caller += 1) lost.push(ask(`c${at}:${caller}`))
        if (at % 10 === 0) lists.push(ask(groups(['a', 'b', 'c'].map((name) => `${name}list${at}`))))
      }
      await pass(50, load)
      server('c').state = state
      await pass(450, load)
      expect(ring.breakerState).toBe('open')
      expect(counts(healthy.slice(0, -12))).toEqual({ allowed: healthy.length - 12 })
      // A list is answered once all of its groups are. Its groups on the other two servers are still decided.
      const trouble = lists.slice(5, -8)
      expect(trouble.every(({ outcomes }) => outcomes?.[0] === 'allowed' && outcomes[1] === 'allowed' && outcomes[2] !== 'allowed')).toBe(
        true,
      )
      const refused = lost.filter(({ askedAt }) => askedAt > 400)
      expect(counts(refused)).toEqual({ 'unavailable no': refused.length })
      const before = sent.length
      await pass(320, load)
      const probes = sent.slice(before).filter(({ servers }) => servers === 'c')
      expect(probes.length).toBeGreaterThan(0)
      // A probe is a peek of a key that was called.
      for (const { verb, keys: probed } of probes) expect([verb, probed.length]).toEqual(['peek', 1])
      server('c').state = 'up'
      await pass(320, load)
      expect(ring.breakerState).toBe('closed')
      const back = lost.length
      await pass(50, load)
      await pass(5)
      expect(counts(lost.slice(back))).toEqual({ allowed: lost.length - back })
      expect(counts(healthy)).toEqual({ allowed: healthy.length })
      expect(slowest(healthy)).toBeLessThanOrEqual(5)
      expect(slowest([...lost, ...lists])).toBeLessThanOrEqual(DEADLINE_MS + 1)
      await ring.close()
    },
  )

  it('that lost its connection for a moment: only what was in flight to it fails', async () => {
    const { ask, pass, ring, server, resetInFlight } = wireBench({}, true)
    const all: Answered[] = []
    const load = (at: number): void => {
      for (const name of ['a', 'b', 'c']) all.push(ask(`${name}${at}`))
    }
    await pass(50, load)
    server('c').latencyMs = 20
    const begun = all.length
    all.push(ask('c-lost'))
    await settle()
    const lost = resetInFlight()
    server('c').state = 'away'
    server('c').latencyMs = 1
    await pass(10, load)
    server('c').state = 'up'
    await pass(100, load)
    await pass(5)
    expect(lost).toEqual(['c-lost'])
    expect(all[begun]?.outcomes).toEqual(['connection unknown'])
    expect(counts(all)).toEqual({ allowed: all.length - 1, 'connection unknown': 1 })
    expect(ring.breakerState).toBe('closed')
  })
})

describe('R12: groups over several servers', () => {
  const over = (...of: string[]): readonly CallGroup[] => [group(...of)]

  it('are sent by themselves: one on a server that never answers delays no other', async () => {
    const { ask, pass, server } = wireBench({}, true)
    server('c').state = 'hung'
    const all: Answered[] = []
    const stuck: Answered[] = []
    await pass(100, (at) => {
      stuck.push(ask(over(`a${at}`, `c${at}`)))
      all.push(ask(over(`a${at}`, `b${at}`)), ask(`a${at}`), ask(`b${at}`))
    })
    await pass(DEADLINE_MS + 2)
    expect(counts(all)).toEqual({ allowed: all.length })
    expect(slowest(all)).toBeLessThanOrEqual(5)
    expect(counts(stuck)).toEqual({ 'timeout unknown': stuck.length })
  })

  it('are not sent while the breaker of one of them is open', async () => {
    const { ask, pass, server, sent } = wireBench({}, true)
    server('c').state = 'silent'
    await pass(200, (at) => void ask(`c${at}`))
    const before = sent.length
    const [refused, passes] = [ask(over('a', 'c')), ask(over('a', 'b'))]
    const list = ask([group('b', 'c'), group('a', 'b'), group('c'), group('b')])
    await pass(5)
    expect([refused, passes, list].map(({ outcomes }) => outcomes)).toEqual([
      ['unavailable no'],
      ['allowed'],
      ['unavailable no', 'allowed', 'unavailable no', 'allowed'],
    ])
    expect(sent.slice(before).some(({ servers }) => servers.includes('c'))).toBe(false)
  })

  it('that fail open no breaker', async () => {
    const { ask, pass, ring, server } = wireBench({}, true)
    server('c').state = 'silent'
    await pass(300, (at) => void ask(over(`a${at}`, `c${at}`)))
    expect(ring.breakerState).toBe('closed')
  })
})

describe('lanes', () => {
  const byFirstLetter = (store: HeldStore['store']) => ({
    ...store,
    laneOf: (ids: readonly { readonly key: string }[]) => {
      const names = new Set(ids.map(({ key }) => key.charAt(0)))
      return names.size === 1 ? [...names][0] : undefined
    },
  })

  it('send what is on one server in one batch, changes and leases too', async () => {
    const { ring, ask, sent, calls, answerAll } = ringBench({}, undefined, (store) => ({
      ...byFirstLetter(store),
      lease: async (requests) => requests.map(({ call: { id } }) => ({ granted: id.key.length }) as never),
    }))
    const single = ['a1', 'b1', 'a2', 'b2'].map((key) => ask(key))
    const both = ring.decide([group('a1', 'b1'), group('b3')])
    await settle()
    expect(sent()).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2', 'b3'],
      ['a1', 'b1'],
    ])
    const changed = ring.change(['b4', 'a4', 'b5'].map((key) => ({ kind: 'reset', id: call(key).id }) as const))
    await settle()
    expect(calls.slice(3).map(({ verb, keys: of }) => [verb, ...of])).toEqual([
      ['change', 'b4', 'b5'],
      ['change', 'a4'],
    ])
    await answerAll()
    expect((await both).map(outcomeOf)).toEqual(['allowed', 'allowed'])
    expect(single.map(({ outcomes }) => outcomes)).toEqual(single.map(() => ['allowed']))
    expect(await changed).toEqual([{}, {}, {}])
    const request = (key: string) => ({ call: call(key), want: 1, holder: 1, sequence: 1, life: 1, kept: 0, returned: 0 })
    const granted = await ring.lease?.(['b', 'a22', 'b3'].map(request))
    expect(granted?.map((answer) => answer.granted)).toEqual([1, 3, 2])
  })

  it('keep the order of the groups in their answers', async () => {
    const { ring, calls } = ringBench({}, undefined, byFirstLetter)
    const list = ring.decide(groups(['b1', 'a2', 'c3', 'a4', 'b5', 'c6']))
    await settle()
    for (const held of calls.splice(0).reverse())
      await held.answerWith(held.keys.map((key) => ({ outcome: 'allowed', at: Number(key.slice(1)), calls: [] })))
    expect((await list).map((verdict) => verdict.outcome && verdict.at)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('that are idle are dropped beyond 1,024, and those in use are kept', async () => {
    const { ring, ask, calls, answerAll, pass } = ringBench({}, undefined, (store) => ({ ...store, laneOf: ([id]) => id?.key }))
    const patient = { deadline: 100_000 }
    const inFlight = Array<string>(5).fill('busy')
    const busy = ask(inFlight, patient)
    for (let failed = 0; failed < 3; failed += 1) {
      ask('gone', patient)
      await settle()
      await calls.pop()?.fail(reset())
    }
    expect(ring.breakerState).toBe('open')
    for (const key of keys('k', 1_100)) {
      const one = ask(key, patient)
      await settle()
      await calls.pop()?.answer()
      expect(one.outcomes).toEqual(['allowed'])
    }
    // The ring has dropped the lane (its part for one server) whose breaker was open. So that lane sends no more probes.
    expect(ring.breakerState).toBe('closed')
    await pass(1)
    // The lane with a call in flight was kept: the next call of the key `busy` waits for that one.
    const next = ask('busy', patient)
    await settle()
    expect(calls.map(({ keys: of }) => of)).toEqual([inFlight])
    await pass(400)
    expect(calls).toHaveLength(2)
    await answerAll()
    expect([busy, next].map(({ outcomes }) => outcomes)).toEqual([inFlight.map(() => 'allowed'), ['allowed']])
    await ring.close()
  })
})
