import { ALLOWED } from '../embedded/profiles.ts'
import type { Reading } from '../reading.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** Other libraries on the same server, in the same rounds. */
export const peers: RedisPart = {
  name: 'peers',
  title: 'one hot key, 64 callers: other ways and other libraries',
  async run(options) {
    options.say('one key, 64 callers, ten ways')
    const one = { callers: 64, keys: 'one' } as const
    const comparison = await compare(options, ALLOWED, {
      lua: { way: 'lua', ...one },
      luaArticle: { way: 'lua-article', ...one },
      luaPipelined: { way: 'lua-pipelined', ...one },
      multiCommand: { way: 'multi-command', ...one },
      watch: { way: 'watch', ...one },
      flexible: { way: 'flexible', ...one },
      expressStore: { way: 'express-store', ...one },
      fastifyPlugin: { way: 'fastify-plugin', ...one },
      bare: { way: 'bare', ...one },
      sluice: { way: 'sluice', ...one },
    })
    const others = ['lua', 'luaArticle', 'luaPipelined', 'multiCommand', 'watch', 'flexible', 'expressStore', 'fastifyPlugin'] as const
    const readings = (['bare', 'sluice'] as const).flatMap((ours) =>
      others.map((baseline): Reading =>
        judge(comparison, {
          name: `${ours === 'bare' ? 'bare' : 'Sluice'}, against ${comparison.lanes[baseline].name}`,
          ours,
          baseline,
          as: 'speed',
        }),
      ),
    )
    return {
      readings,
      notes: [
        comparison.table,
        'Each as its own pages set it up for ioredis: rate-limiter-flexible with points, duration and no offline queue; rate-limit-redis with `client.call`, its store',
        'called as express-rate-limit calls it; @fastify/rate-limit with the client settings of its example, through `createRateLimit`. None runs its HTTP part. They',
        'count in fixed windows, and the audit holds them to that: twice the limit may pass across a boundary. Auto-pipelining is an option of ioredis.',
      ],
    }
  },
}
