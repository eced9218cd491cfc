import { describe, expect, it } from 'vitest'
import { memoryStore, tokenBucket } from '../../src/index.ts'
import { regionalStore, replicate, type ReplicateOptions } from '../../src/regions.ts'
import { manualClock } from '../../src/time/manual.ts'
import { carriedRegions, move, paced } from './carried.ts'

type Network = ReturnType<typeof carriedRegions>

/** Regions that are open, with full buckets. */
async function opened(names: readonly string[], options = {}): Promise<Network> {
  const network = carriedRegions(names, { rate: 100, tickMs: 50, ...options })
  while (!network.isOpen()) await network.pass(100)
  await network.pass(1_500)
  return network
}

/** Calls a region with 1.5 of the rate. Returns the part of the rate that passes. */
async function use(network: Network, name: string, ms: number): Promise<number> {
  let passed = 0
  await network.pass(ms, () => (passed += paced(network, name, 150)))
  return passed / (ms / 10)
}

describe('regions R7: replicate', () => {
  it('regions R7: after a full move of demand, 95 % of the rate is used within 5 seconds, and 97 % from then on', async () => {
    const found = await move(1, 1.5, 100, 50)
    expect(found).toMatchObject({ over: false })
    expect(found.seconds).toBeLessThanOrEqual(5)
    expect(found.after).toBeGreaterThanOrEqual(0.97)
  })

  it('sends no row, and counts nothing, of keys that are not denied', async () => {
    const network = await opened(['eu', 'us'])
    await network.pass(3_000, () => void paced(network, 'eu', 40))
    expect(network.counts).toMatchObject({ rows: 0, needs: 0 })
    expect(network.at('eu').replicator.status()).toMatchObject({ cells: 0, transfers: { sent: 0, received: 0 } })
    await network.close()
  })

  it('keeps at a busy region what it holds while it is cut off, and shares again when the link is healed', async () => {
    const network = await opened(['ap', 'eu'])
    await use(network, 'eu', 4_000)
    expect(network.units()).toEqual([10, 990])
    network.cuts.add('ap>eu').add('eu>ap')
    let ap = 0
    const alone = await use(network, 'eu', 6_000)
    expect(alone).toBeGreaterThan(0.97)
    await network.pass(2_000, () => (ap += paced(network, 'ap', 150)))
    expect([network.units(), ap <= 5]).toEqual([[10, 990], true])
    expect(network.at('ap').replicator.status().peers['eu']).toMatchObject({ error: 'the link is cut' })
    network.cuts.clear()
    await network.pass(9_000, () => [paced(network, 'ap', 150), paced(network, 'eu', 150)])
    const [one = 0, other = 0] = network.units()
    expect([one + other, Math.abs(one - other) <= 40]).toEqual([1000, true])
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('reads a peer soon after that one has read from it, also after many failures', async () => {
    const network = await opened(['ap', 'eu'])
    const failures = (): number => network.at('eu').replicator.status().peers['ap']?.failures ?? 0
    for (let turn = 0; turn < 5; turn += 1) {
      network.hooks.page = (page) => ((page as { from: string }).from === 'ap' ? 'busy' : page)
      await network.pass(20_300)
      expect(failures()).toBeGreaterThan(4)
      delete network.hooks.page
      await network.pass(1_600)
      expect(failures()).toBe(0)
    }
    await network.close()
  })

  it('sends units of a limit that all callers share: its key is empty', async () => {
    const network = await opened(['ap', 'eu'])
    await network.pass(4_000, () => {
      for (let call = 0; call < 8; call += 1) network.call('eu', 1, '')
    })
    expect([network.units(''), network.errors]).toEqual([[10, 990], []])
    await network.close()
  })

  it('leaves keys whose scope or text is too long for messages at their weight, and goes on with others', async () => {
    const network = await opened(['ap', 'eu'])
    const { limit } = network
    const long = [
      { scope: { text: `limiter:${'l'.repeat(250)}:tb:` }, key: 'k' },
      { scope: { text: 'limiter:limit:tb:' }, key: 'k'.repeat(513) },
    ]
    const { store } = network.at('eu')
    await network.pass(4_000, () => {
      for (const id of long)
        for (let call = 0; call < 8; call += 1) store.decideNow?.({ calls: [{ id, limit, cost: 1_000_000, phase: 0 }] })
      paced(network, 'eu', 150)
    })
    for (const id of long) expect([store.give?.({ id, limit }, 'ap', 1), store.unitsOf?.({ id, limit })]).toEqual([false, 500])
    expect([network.units(), network.errors]).toEqual([[10, 990], []])
    await network.close()
  })

  it('sends nothing more to a peer that does not read', async () => {
    const network = await opened(['ap', 'eu'])
    network.cuts.add('eu reads ap')
    await use(network, 'eu', 8_000)
    // Units that `ap` sent before it noticed that `eu` does not read are on their way. The region keeps the others.
    expect(network.units()[0]).toBeGreaterThanOrEqual(500)
    network.cuts.clear()
    await use(network, 'eu', 9_000)
    expect(network.units()).toEqual([10, 990])
    await network.close()
  })

  it('lets a store that was lost serve again within five seconds, with nothing over', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    await use(network, 'eu', 4_000)
    await network.lose('eu')
    expect(network.at('eu').replicator.status()).toMatchObject({ phase: 'learning', units: 0 })
    await network.pass(3_000)
    expect(network.isOpen()).toBe(true)
    expect(await use(network, 'eu', 2_000)).toBeGreaterThan(0.3)
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })

  it('regions R6: a store of which a peer has bound a later run holds nothing any more, and says so', async () => {
    const network = await opened(['ap', 'eu', 'us'])
    await network.pass(1_000)
    const first = network.again('eu')
    await network.pass(4_000)
    const key = network.keyOf()
    expect(first.replicator.status()).toMatchObject({ phase: 'learning', units: 0 })
    expect(first.store.decideNow?.({ calls: [{ ...key, cost: 1, phase: 0 }] })).toMatchObject({ outcome: 'denied' })
    expect(String(network.errors[0])).toContain('has bound a later run of region eu: another store has this name')
    // The later one is not disturbed.
    expect(network.isOpen()).toBe(true)
    const { era } = network.at('eu').replicator.status()
    await network.pass(8_000)
    expect([network.isOpen(), network.at('eu').replicator.status().era]).toEqual([true, era])
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await first.replicator.close()
    await network.close()
  })

  it('regions R6: a page from before its hello does not make a store lose its region', async () => {
    const network = await opened(['ap', 'eu'])
    const isOfAp = (page: unknown): boolean => (page as { from: string }).from === 'ap'
    const pages: unknown[] = []
    network.hooks.page = (page) => {
      if (isOfAp(page)) pages.push(page)
      return page
    }
    await network.pass(2_000)
    delete network.hooks.page
    await network.lose('eu')
    await network.pass(4_000)
    expect(network.isOpen()).toBe(true)
    network.hooks.page = (page) => (isOfAp(page) ? (pages.pop() ?? page) : page)
    await network.pass(4_000)
    expect([network.isOpen(), pages, network.at('eu').store.phase]).toEqual([true, [], 'open'])
    await network.close()
  })

  it('reads a peer from the beginning that counts from the beginning again, and refuses one that does not get on', async () => {
    const network = await opened(['ap', 'eu'])
    await use(network, 'eu', 4_000)
    const isOfAp = (page: unknown): page is { from: string; cursor: number } => (page as { from: string }).from === 'ap'
    let lower = 1
    network.hooks.page = (page) => (isOfAp(page) && (lower -= 1) >= 0 ? { ...page, cursor: 0 } : page)
    await network.pass(3_000)
    expect([network.errors, lower < 0, network.units()]).toEqual([[], true, [10, 990]])
    network.hooks.page = (page) => (isOfAp(page) ? { ...page, cursor: 0, status: null } : page)
    await network.pass(3_000)
    expect(String(network.errors[0])).toContain('page of region ap: cursor is 0, expected more than 0')
    await network.close()
  })

  it.each([
    ['no page', () => 'busy', 'page of region ap: it is "busy", expected an object'],
    ['a field that no region sends', (page: object) => ({ ...page, more: 1 }), 'page of region ap: more is unknown'],
    ['no version', (page: object) => Object.fromEntries(Object.entries(page).slice(1)), 'page of region ap: version is missing'],
    ['the page of another', (page: object) => ({ ...page, from: 'us' }), 'page of region ap: from is "us", expected ap'],
    ['a part of a unit', row([5, 0.5]), 'rows[0] units is 0.5, expected a whole number from 0 to 9007199254740991'],
    ['units as text', row([5, '1']), 'rows[0] units is "1", expected a whole number'],
    ['tokens below zero', row([6, -1]), 'rows[0] tokens is -1, expected a whole number'],
    ['more tokens of old limits than tokens', row([7, 1e15]), 'rows[0] base is 1000000000000000, expected a whole number from 0 to'],
    ['no limit', row([8, '1/0/1']), 'rows[0] policy is "1/0/1", expected the numbers of a token bucket'],
    ['a long key', row([1, 'k'.repeat(513)]), 'expected a text of 0 to 512 characters'],
    ['many rows', (page: object) => ({ ...page, rows: Array.from({ length: 1_001 }, () => []) }), 'rows is [[],[]'],
    ['a phase', status({ phase: 'shut' }), 'status.phase is "shut", expected learning or open or closed'],
    [
      'weights above all',
      status({ roster: { version: 1, weights: { ap: 999, eu: 2 }, gone: [] } }),
      'the sum of status.roster.weights is 1001',
    ],
    ['a run that is gone, without a name', status({ next: { version: 1, weights: {}, gone: [['us']] } }), 'status.next.gone[0] is ["us"]'],
  ])('refuses %s at once, loses nothing, and reads it again', async (_name, wrong, message) => {
    const network = await opened(['ap', 'eu'])
    network.at('ap').store.give?.(network.keyOf(), 'eu', 100)
    await network.pass(1_500)
    network.at('ap').store.give?.(network.keyOf(), 'eu', 100)
    const before = [network.units(), network.at('eu').replicator.status().transfers]
    network.hooks.page = (page) => ((page as { from: string }).from === 'ap' ? wrong(page as never) : page)
    await network.pass(1_500)
    expect(String(network.errors[0])).toContain(message)
    expect([network.units(), network.at('eu').replicator.status().transfers]).toEqual(before)
    delete network.hooks.page
    await network.pass(6_000)
    expect(network.units()).toEqual([300, 700])
    await network.close()
  })

  it('refuses a request that no region sends, and any after its end', async () => {
    const network = await opened(['ap', 'eu'])
    const { replicator } = network.at('eu')
    const request = { version: 1, from: 'ap', to: 'eu', rows: null, needs: [], after: 0, needsAt: { run: 'p', at: 0 }, hello: null }
    expect(await replicator.answer(request)).toMatchObject({ from: 'eu', to: 'ap', rows: [] })
    for (const [wrong, message] of [
      [{ from: 'us' }, 'request: from is "us", expected ap'],
      [{ to: 'ap' }, 'request: to is "ap", expected eu'],
      [{ version: 2 }, 'request: version is 2, expected 1'],
      [{ needs: [['s', 'k', '1/1/1', 1_001, 0, 0, 0]] }, 'request: needs[0] need is 1001, expected a whole number from 0 to 1000'],
      [{ needs: Array.from({ length: 251 }, () => []) }, 'expected a list of at most 250'],
      [{ rows: { run: 'r', at: -1 } }, 'request: rows.at is -1, expected a whole number'],
      [{ hello: { run: '', toRun: 'r', joins: 0, seen: 0 } }, 'request: hello.run is "", expected a text of 1 to 256 characters'],
    ] as const)
      await expect(replicator.answer({ ...request, ...wrong })).rejects.toThrow(message)
    await network.close()
    await expect(replicator.answer(request)).rejects.toThrow(expect.objectContaining({ code: 'CLOSED' }))
  })

  it('has one request to a peer under way, waits longer after failures, and ends it when it is closed', async () => {
    const clock = manualClock()
    const store = regionalStore({ store: memoryStore({ clock }), self: 'eu', peers: ['us'], mode: 'escrow' })
    const [starts, signals]: [number[], AbortSignal[]] = [[], []]
    const failed: string[] = []
    const onError = (peer: string): void => {
      failed.push(peer)
      throw new Error('an observer that fails')
    }
    const transport: ReplicateOptions['transport'] = (_peer, _request, signal) => {
      starts.push(clock.monotonic())
      signals.push(signal)
      return new Promise(() => {})
    }
    const replicator = replicate({ store, transport, clock, timeoutMs: 300, random: () => 0.5, onError })
    for (let tick = 0; tick < 160; tick += 1) {
      clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    // A pull is given up after 300 ms. The pauses after that are 1, 2, 4, 5 and 5 seconds.
    const pauses = starts.slice(1).map((start, index) => start - (starts[index] as number) - 300)
    expect(pauses).toEqual([1_000, 2_000, 4_000, 5_000])
    expect(replicator.status().peers).toEqual({
      us: { lagMs: undefined, readMs: undefined, failures: 5, error: 'no page of region us within 300 ms' },
    })
    clock.advance(5_000)
    await new Promise((resolve) => setImmediate(resolve))
    await replicator.close()
    await replicator.close()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true, true, true])
    clock.advance(60_000)
    expect([starts.length, failed.length]).toEqual([6, 5])
  })

  it('takes a store with escrow and no other replicator, and names what is wrong', async () => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' })
    const transport = async (): Promise<unknown> => undefined
    const replicator = replicate({ store, transport })
    expect(() => replicate({ store, transport })).toThrow('the store has a replicator already')
    await replicator.close()
    await replicate({ store, transport }).close()
    const fixed = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'] })
    expect(() => replicate({ store: fixed, transport })).toThrow('replicate: expected a regionalStore with mode escrow')
    expect(() => replicate({ store, transport, periodMs: 5 })).toThrow('replicate: periodMs is 5, expected 100 to 60000')
    expect(() => replicate({ store } as never)).toThrow('replicate: transport is undefined, expected a function')
  })

  it('sends no units of a key that is too long for a page', async () => {
    const network = await opened(['ap', 'eu'])
    const long = { id: { scope: { text: 's:l:tb:' }, key: 'k'.repeat(513) }, limit: tokenBucket({ rate: '1/s', burst: 10 }) }
    expect(network.at('ap').store.give?.(long, 'eu', 1)).toBe(false)
    await network.close()
  })
})

/** A page whose first row has another value. */
function row([index, value]: readonly [number, unknown]) {
  return (page: { rows: unknown[][] }) => ({ ...page, rows: page.rows.map((one) => one.toSpliced(index, 1, value)) })
}

function status(change: object) {
  return (page: { status: object }) => ({ ...page, status: { ...page.status, ...change } })
}
