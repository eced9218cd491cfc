import type { Contestant } from '../contestants/contestant.ts'
import { expressStore } from '../contestants/express-store.ts'
import { fastifyPlugin } from '../contestants/fastify-plugin.ts'
import { flexible, flexibleBlocking } from '../contestants/flexible.ts'
import { clockAlone, emptyJoined } from '../contestants/floors.ts'
import { lua, luaArticle, luaPipelined } from '../contestants/lua.ts'
import { multiCommand } from '../contestants/multi-command.ts'
import { sluice, sluiceOver, storeOver } from '../contestants/sluice.ts'
import { watch } from '../contestants/watch.ts'
import { type Around, wrapped } from './wrappers.ts'

/** Ways to keep a limit in Redis, and the floors under them, by short names that a child process is told. */
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
  | 'coalescing'
  | 'denied-cache'
  | 'leases'
  | 'resilient'
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
  coalescing: limiter('Sluice, coalescing', 'coalescing'),
  'denied-cache': limiter('Sluice, denied-cache', 'denied-cache'),
  leases: limiter('Sluice, strict leases', 'leases'),
  resilient: limiter('Sluice, resilient', 'resilient'),
  'coalescing-store': store('its store alone, coalescing', 'coalescing'),
  'denied-cache-store': store('its store alone, denied-cache', 'denied-cache'),
  'leases-store': store('its store alone, strict leases', 'leases'),
  'empty-joined': emptyJoined,
  clock: clockAlone(true),
  'clock-denied': clockAlone(false),
}

export function wayOf(way: Way): Contestant {
  return WAYS[way]
}

function limiter(name: string, around: Around): Contestant {
  return sluiceOver(name, (plain) => wrapped(plain, around))
}

function store(name: string, around: Around): Contestant {
  return storeOver(name, (plain) => wrapped(plain, around))
}
