import type { Contestant } from '../contestants/contestant.ts'
import { expressStore } from '../contestants/express-store.ts'
import { fastifyPlugin } from '../contestants/fastify-plugin.ts'
import { flexible, flexibleBlocking } from '../contestants/flexible.ts'
import { clockAlone, emptyJoined } from '../contestants/floors.ts'
import { lua, luaPipelined } from '../contestants/lua.ts'
import { multiCommand } from '../contestants/multi-command.ts'
import { sluice, sluiceOver, storeOver } from '../contestants/sluice.ts'
import { watch } from '../contestants/watch.ts'
import { wrapperOf, type WrapperName } from './wrappers.ts'

/** Ways to keep a limit in Redis, and the floors under them, by short names that a child process is told. */
export type Way =
  | 'lua'
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

const WAYS: Readonly<Record<Way, Contestant | undefined>> = {
  lua,
  'lua-pipelined': luaPipelined,
  'multi-command': multiCommand,
  watch,
  flexible,
  'flexible-blocking': flexibleBlocking,
  'express-store': expressStore,
  'fastify-plugin': fastifyPlugin,
  sluice,
  coalescing: wrapped('Sluice, coalescing', 'withCoalescing'),
  'denied-cache': wrapped('Sluice, denied-cache', 'withDeniedCache'),
  leases: wrapped('Sluice, strict leases', 'withCoalescing', 'withLeases'),
  resilient: wrapped('Sluice, resilient', 'resilient'),
  'coalescing-store': bare('its store alone, coalescing', 'withCoalescing'),
  'denied-cache-store': bare('its store alone, denied-cache', 'withDeniedCache'),
  'leases-store': bare('its store alone, strict leases', 'withCoalescing', 'withLeases'),
  'empty-joined': emptyJoined,
  clock: clockAlone(true),
  'clock-denied': clockAlone(false),
}

export function wayOf(way: Way): Contestant | undefined {
  return WAYS[way]
}

function wrapped(name: string, ...names: readonly WrapperName[]): Contestant | undefined {
  const wrap = wrapperOf(...names)
  return wrap === undefined ? undefined : sluiceOver(name, wrap)
}

function bare(name: string, ...names: readonly WrapperName[]): Contestant | undefined {
  const wrap = wrapperOf(...names)
  return wrap === undefined ? undefined : storeOver(name, wrap)
}
