import { type Profile, ALLOWED, ALLOWED_KEYS, DENIED } from '../profiles.ts'
import type { PartResult } from '../part.ts'
import type { Depth } from '../result/suite-result.ts'
import type { Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { withBallast } from './ballast.ts'
import { compare, judge } from './comparison.ts'
import type { LaneInput } from './lane-input.ts'
import { HOT_LOAD, peerReadingName } from './peer-names.ts'
import type { RedisOptions, RedisPart } from './redis-part.ts'
import type { Way } from './ways.ts'

/** A load under which the libraries are compared. */
interface PeersLoad {
  readonly name: string
  readonly title: string
  readonly profile: Profile
  /** The keys that take turns, or `mixed` for three limits a request. */
  readonly keys: number | 'mixed'
  /** Whether only a full run measures it. */
  readonly fullOnly?: true
  /**
   * Set for a load that is measured with many callers only. A single caller makes one request after the other, so it would show the same as
   * under another load.
   */
  readonly crowdOnly?: true
  /** Ways in addition to `EVERYWHERE`. */
  readonly more?: readonly Way[]
}

/** The baseline is the first. */
const EVERYWHERE: readonly Way[] = [
  'lua',
  'flexible',
  'express-store',
  'fastify-plugin',
  'upstash',
  'upstash-bucket',
  'bare',
  'sluice',
  'leases',
]
const OTHERS: readonly Way[] = ['lua-article', 'lua-pipelined', 'multi-command', 'watch']
const MIXED_PROFILE: Profile = { ...ALLOWED_KEYS, name: 'mixed application' }

const LOADS: readonly PeersLoad[] = [
  { name: 'hot', title: HOT_LOAD.title, profile: ALLOWED, keys: 1, more: OTHERS },
  { name: 'keys-thousand', title: '1,000 keys at random', profile: ALLOWED_KEYS, keys: 1_000, fullOnly: true, crowdOnly: true },
  { name: 'keys-million', title: 'keys at random', profile: ALLOWED_KEYS, keys: 1_000_000, fullOnly: true },
  {
    name: 'denied',
    title: 'a denied flood on one key',
    profile: DENIED,
    keys: 1,
    fullOnly: true,
    crowdOnly: true,
    more: ['flexible-blocking', 'denied-cache'],
  },
  {
    name: 'mixed',
    title: 'three limits a request, 80 % of the requests from 20 % of the users, 10 % denied',
    profile: MIXED_PROFILE,
    keys: 'mixed',
  },
]

const CALLERS: Readonly<Record<Depth, readonly number[]>> = { quick: [64], full: [64, 1] }

/** Measures other libraries on the same server, in the same rounds, under every load. */
export const peers: RedisPart = {
  name: 'peers',
  title: 'other ways and other libraries, under five loads',
  async run(options) {
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const load of LOADS) {
      if (options.depth === 'quick' && load.fullOnly) continue
      for (const callers of CALLERS[options.depth]) {
        if (callers === 1 && load.crowdOnly) continue
        const found = await measured(load, callers, options)
        readings.push(...(found.readings ?? []))
        tables.push(...(found.tables ?? []))
      }
    }
    return { readings, tables, notes: NOTES }
  },
}

const NOTES = [
  'Each library is configured for ioredis as its own documentation says. rate-limiter-flexible has points, duration and no offline queue. rate-limit-redis has `client.call`, and its store is called as express-rate-limit calls it. @fastify/rate-limit has the client settings of its example and is called through `createRateLimit`.',
  'No HTTP code of a library runs. These three libraries count in fixed windows, which promise no more than twice the limit around the end of a window. Their over-grant is what passed beyond this promise. Auto-pipelining is an option of ioredis.',
  '@upstash/ratelimit is made for the REST API of Upstash. Here its programs run over ioredis, so its figures include no HTTP. The first line of each program is left out, because only Upstash’s servers know it.',
  '@upstash/ratelimit has its default options: a cache in the process repeats denials, and the time comes from the client’s clock. Its sliding window is compared with the promise of a sliding window counter. Its token bucket refills in steps, so around a step twice the limit may pass, as around the end of a fixed window.',
  'Over-grant comes from a separate run with a burst of 10 and a rate of 10 a second. As many callers as the row has call one key.',
  'Under the mixed load, Sluice decides all three limits of a request with one call, and charges all or none. The others check the three limits concurrently, with one call each. So if one limit denies a request, they have still charged the limits that allowed it.',
  'Under the mixed load, the requests of users whose free plan is used up must be denied, and all others must pass. Any other answer counts as wrong.',
]

async function measured(load: PeersLoad, callers: number, options: RedisOptions): Promise<PartResult> {
  const { name, title, profile, keys, more = [] } = load
  const at = callers === 1 ? '1 caller' : `${callers} callers`
  options.say(`${title}, ${at}`)
  const ways = [...EVERYWHERE, ...more]
  const inputOf = (way: Way): LaneInput => {
    if (keys === 'mixed') return { mixed: way, callers }
    return { way, callers, keys: keys === 1 ? 'one' : keys }
  }
  const lanes = Object.fromEntries(ways.map((way) => [way, inputOf(way)])) as Record<Way, LaneInput>
  const comparison = await withBallast(options, keys === 'mixed' ? 0 : keys, () => compare(options, profile, lanes))
  const many = typeof keys === 'number' && keys > 1_000 ? `${keys.toLocaleString('en-US')} ` : ''
  const table: Table = { ...comparison.table, name: `${name}-${callers}`, title: `${many}${title}, ${at}` }
  const against = (ours: Way, whose: string): Reading[] =>
    ways
      .filter((way) => comparison.lanes[way].kind !== 'ours')
      .map((baseline) =>
        judge(comparison, { name: peerReadingName(whose, comparison.lanes[baseline].name, { title, at }), ours, baseline, as: 'speed' }),
      )
  return { tables: [table], readings: name === 'hot' ? [...against('bare', 'bare'), ...against('sluice', 'Sluice')] : [] }
}
