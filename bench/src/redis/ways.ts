import { clojureLua } from '../contestants/clojure-lua.ts'
import type { Contestant } from '../contestants/contestant.ts'
import { expressStore } from '../contestants/express-store.ts'
import { fastifyPlugin } from '../contestants/fastify-plugin.ts'
import { flexible, flexibleBlocking } from '../contestants/flexible.ts'
import { clockAlone, emptyJoined, ping } from '../contestants/floors.ts'
import { lua, luaArticle, luaLastTime, luaPipelined, luaServerTime } from '../contestants/lua.ts'
import { multiCommand, multiCommandAllowedOnly, multiCommandPrinted } from '../contestants/multi-command.ts'
import { countersInProcess, getThenIncr } from '../contestants/not-atomic.ts'
import { incrExpire, rateLimitLua, weightedCounter, zsetLog } from '../contestants/scripted.ts'
import { inMemory, sluice, sluiceRegion, sluiceWith, storeWith } from '../contestants/sluice.ts'
import { upstash, upstashBucket } from '../contestants/upstash.ts'
import { watch } from '../contestants/watch.ts'

/** The short names of the ways to keep a limit in Redis, and of the floors. Child processes get these names. */
export type Way =
  | 'lua'
  | 'lua-article'
  | 'lua-clojure'
  | 'lua-pipelined'
  | 'lua-last-time'
  | 'lua-server-time'
  | 'multi-command'
  | 'multi-command-printed'
  | 'multi-command-allowed-only'
  | 'watch'
  | 'flexible'
  | 'flexible-blocking'
  | 'express-store'
  | 'fastify-plugin'
  | 'upstash'
  | 'upstash-bucket'
  | 'sluice'
  | 'bare'
  | 'coalescing'
  | 'denied-cache'
  | 'leases'
  | 'coalescing-store'
  | 'denied-cache-store'
  | 'leases-store'
  | 'fixed-window'
  | 'fixed-window-bare'
  | 'log'
  | 'log-bare'
  | 'counter'
  | 'counter-bare'
  | 'region-fixed'
  | 'region-escrow'
  | 'region-rows'
  | 'memory'
  | 'memory-window'
  | 'rate-limit-lua'
  | 'incr-expire'
  | 'zset-log'
  | 'two-counters'
  | 'get-incr'
  | 'in-process'
  | 'ping'
  | 'empty-joined'
  | 'clock'
  | 'clock-denied'

const WAYS: Readonly<Record<Way, Contestant>> = {
  lua,
  'lua-article': luaArticle,
  'lua-clojure': clojureLua,
  'lua-pipelined': luaPipelined,
  'lua-last-time': luaLastTime,
  'lua-server-time': luaServerTime,
  'multi-command': multiCommand,
  'multi-command-printed': multiCommandPrinted,
  'multi-command-allowed-only': multiCommandAllowedOnly,
  watch,
  flexible,
  'flexible-blocking': flexibleBlocking,
  'express-store': expressStore,
  'fastify-plugin': fastifyPlugin,
  upstash,
  'upstash-bucket': upstashBucket,
  sluice,
  bare: sluiceWith('Sluice, bare', 'bare'),
  coalescing: sluiceWith('Sluice, coalescing', 'coalescing'),
  'denied-cache': sluiceWith('Sluice, denied-cache', 'denied-cache'),
  leases: sluiceWith('Sluice, strict leases', 'leases'),
  'coalescing-store': storeWith('its store alone, coalescing', 'coalescing'),
  'denied-cache-store': storeWith('its store alone, denied-cache', 'denied-cache'),
  'leases-store': storeWith('its store alone, strict leases', 'leases'),
  'fixed-window': sluiceWith('Sluice', 'sluice', 'fixed-window'),
  'fixed-window-bare': sluiceWith('Sluice, bare', 'bare', 'fixed-window'),
  log: sluiceWith('Sluice', 'sluice', 'sliding-window-log'),
  'log-bare': sluiceWith('Sluice, bare', 'bare', 'sliding-window-log'),
  counter: sluiceWith('Sluice', 'sluice', 'sliding-window-counter'),
  'counter-bare': sluiceWith('Sluice, bare', 'bare', 'sliding-window-counter'),
  'region-fixed': sluiceRegion('fixed'),
  'region-escrow': sluiceRegion('escrow'),
  'region-rows': sluiceRegion('rows'),
  memory: inMemory('Sluice, in memory', 'token-bucket'),
  'memory-window': inMemory('Sluice, in memory', 'fixed-window'),
  'rate-limit-lua': rateLimitLua,
  'incr-expire': incrExpire,
  'zset-log': zsetLog,
  'two-counters': weightedCounter,
  'get-incr': getThenIncr,
  'in-process': countersInProcess,
  ping,
  'empty-joined': emptyJoined,
  clock: clockAlone(true),
  'clock-denied': clockAlone(false),
}

export function wayOf(way: Way): Contestant {
  return WAYS[way]
}
