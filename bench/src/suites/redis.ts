import { inChild } from '../in-child.ts'
import { cluster } from '../redis/cluster.ts'
import { denied } from '../redis/denied.ts'
import { different } from '../redis/different.ts'
import { GRANT, type Grant, type GrantInput } from '../redis/grants.ts'
import { hot } from '../redis/hot.ts'
import { memory } from '../redis/memory.ts'
import { oneCaller } from '../redis/one-caller.ts'
import { peers } from '../redis/peers.ts'
import type { RedisOptions, RedisPart } from '../redis/redis-part.ts'
import type { Way } from '../redis/ways.ts'
import { redisTime } from '../redis/redis-time.ts'
import { rules } from '../redis/rules.ts'
import { openPrivateServer, type PrivateServer } from '../server.ts'
import { chosenOf, runParts } from './run-parts.ts'
import { headOf, type Suite, type SuiteOptions } from './suite.ts'

const PARTS: readonly RedisPart[] = [hot, different, oneCaller, redisTime, denied, memory, rules, peers, cluster]
const SECONDS = 2.5

/** What the Redis store and its ring must reach, each with its baseline, its floor and its over-grant. */
export const redis: Suite = {
  name: 'redis',
  summary: 'what the Redis store and its ring must reach, as ratios on one private redis-server; about four minutes',
  parts: PARTS.map(({ name }) => name),
  async run({ seconds = SECONDS, parts, say, atEnd }) {
    const server = await openPrivateServer({ atEnd })
    const options: RedisOptions = { seconds, say, atEnd, server, grantOf: grants(server, { seconds, say, atEnd }) }
    const { texts, results, documents } = await runParts(chosenOf(PARTS, parts), options)
    const { machine } = server
    const where = headOf(machine, `Redis ${machine.redis}, private, one TCP connection a way`)
    const head = [
      'redis: what the store and its ring must reach, and the baselines',
      `machine: ${where}; ${seconds} s a comparison`,
      'Figures are medians of ratios within a round: all ways run in batches by turns on one server. Compare ratios, not machines.',
      `Over-grant: burst ${GRANT.burst}, ${GRANT.rate}/s, ${GRANT.callers} callers on one key, every interval audited on the server's clock.`,
    ].join('\n')
    return { text: [head, ...texts].join('\n\n'), where, documents, results: { suite: 'redis', machine, seconds, parts: results } }
  },
}

/** Audits each way once, when it is first requested. */
function grants(
  { url }: PrivateServer,
  { seconds, say, atEnd }: Required<Pick<SuiteOptions, 'seconds' | 'say' | 'atEnd'>>,
): RedisOptions['grantOf'] {
  const taken = new Map<Way, Promise<Grant>>()
  return (way) => {
    const before = taken.get(way)
    if (before !== undefined) return before
    say(`over-grant of ${way}`)
    const input: GrantInput = { url, seconds: Math.min(1, seconds), way }
    const grant = inChild<Grant>('grant', input, { atEnd, family: 'redis' })
    taken.set(way, grant)
    return grant
  }
}
