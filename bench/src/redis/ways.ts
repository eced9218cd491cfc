import type { Contestant } from '../contestants/contestant.ts'
import { expressStore } from '../contestants/express-store.ts'
import { fastifyPlugin } from '../contestants/fastify-plugin.ts'
import { flexible, flexibleBlocking } from '../contestants/flexible.ts'
import { clockAlone, emptyJoined } from '../contestants/floors.ts'
import { lua, luaArticle, luaPipelined } from '../contestants/lua.ts'
import { multiCommand } from '../contestants/multi-command.ts'
import { sluice, sluiceWith, storeWith } from '../contestants/sluice.ts'
import { watch } from '../contestants/watch.ts'

/** Ways to keep a limit in Redis, and the floors under them, by short names that child processes know. */
export type Way =
  | 'lua'
  | 'lua-article'
  | 'lua-pipelined'
  | 'multi-command'
  | 'watch'
  | 'flexible'
  | 'flexible-blocking'
  | 'express-store'
  | 'fastify-plugin'
  | 'sluice'
  | 'bare'
  | 'coalescing'
  | 'denied-cache'
  | 'leases'
  | 'coalescing-store'
  | 'denied-cache-store'
  | 'leases-store'
  | 'empty-joined'
  | 'clock'
  | 'clock-denied'

const WAYS: Readonly<Record<Way, Contestant>> = {
  lua,
  'lua-article': luaArticle,
  'lua-pipelined': luaPipelined,
  'multi-command': multiCommand,
  watch,
  flexible,
  'flexible-blocking': flexibleBlocking,
  'express-store': expressStore,
  'fastify-plugin': fastifyPlugin,
  sluice,
  bare: sluiceWith('Sluice, bare', 'bare'),
  coalescing: sluiceWith('Sluice, coalescing', 'coalescing'),
  'denied-cache': sluiceWith('Sluice, denied-cache', 'denied-cache'),
  leases: sluiceWith('Sluice, strict leases', 'leases'),
  'coalescing-store': storeWith('its store alone, coalescing', 'coalescing'),
  'denied-cache-store': storeWith('its store alone, denied-cache', 'denied-cache'),
  'leases-store': storeWith('its store alone, strict leases', 'leases'),
  'empty-joined': emptyJoined,
  clock: clockAlone(true),
  'clock-denied': clockAlone(false),
}

export function wayOf(way: Way): Contestant {
  return WAYS[way]
}
