import type { Part, PartOptions, PartResult } from '../part.ts'
import { POSTGRES_WAYS, type WayName } from '../postgres/ways.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { openResult } from './result.ts'
import { openRounds, startLanes } from './rounds.ts'
import type { OpenKeys, OpenPlace, OpenSettings } from './lane-order.ts'

/** The ways on Redis; the first is the baseline. */
const REDIS: readonly Way[] = ['lua', 'bare', 'sluice', 'flexible', 'express-store']
const POSTGRES: readonly WayName[] = ['update', 'bare', 'sluice', 'flexible']
const CALLERS = 64
/** A quota so large that no request is denied. */
const QUOTA = { tokens: 1_000_000, per: '1s', burst: 10_000_000 } as const

export const OPEN_PARTS: readonly Part[] = [
  openPart('redis', 'many', 'Redis, one of 10,000 keys at random, against one EVALSHA per request'),
  openPart('redis-hot', 'one', 'Redis, one key, against one EVALSHA per request'),
  openPart('postgres', 'many', 'PostgreSQL, one of 10,000 keys at random, against one prepared UPDATE per request'),
  openPart('postgres-hot', 'one', 'PostgreSQL, one key, against one prepared UPDATE per request'),
]

function openPart(name: string, keys: OpenKeys, title: string): Part {
  return {
    name,
    title,
    ...(keys === 'one' ? { fullOnly: true } : {}),
    async run(options): Promise<PartResult> {
      const kinds = name.startsWith('redis') ? REDIS.map((way) => wayOf(way).kind) : POSTGRES.map((way) => POSTGRES_WAYS[way].kind)
      const lanes = await startLanes(await placesOf(name, keys, options), options)
      return openResult(await openRounds(lanes, { ...options, own: keys === 'many' && options.depth === 'full' }), kinds)
    },
  }
}

async function placesOf(name: string, keys: OpenKeys, { engines }: PartOptions): Promise<OpenPlace[]> {
  const settings = (url: string, index: number): OpenSettings => ({
    url,
    callers: CALLERS,
    keys,
    quota: QUOTA,
    space: `${name.replace('-', '')}${index}`,
  })
  if (name.startsWith('redis')) {
    const { url } = await engines.redis()
    return REDIS.map((way, index) => ({ ...settings(url, index), redis: way }))
  }
  const { url } = await engines.postgres()
  return POSTGRES.map((way, index) => ({ ...settings(url, index), postgres: way }))
}
