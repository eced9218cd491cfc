import { describe, expect, it } from 'vitest'
import { checkImports } from '../src/import-rules.ts'
import { tree } from './tree.ts'

const MANIFEST = JSON.stringify({ exports: { '.': {}, './remote': {} } })

/** One file per path below src, each importing what is given, one import a line. */
function check(files: Readonly<Record<string, string | readonly string[]>>): { ok: boolean; edges: string[]; text: string } {
  const texts = Object.entries(files).map(([file, imports]) => [
    file.startsWith('/') ? file.slice(1) : `packages/sluice/src/${file}`,
    [imports].flat().map(line).join('\n'),
  ])
  const root = tree({ 'packages/sluice/package.json': MANIFEST, ...Object.fromEntries(texts) })
  const { ok, text } = checkImports(root)
  const edges = text.split('\n').filter((row) => row.includes(' -> '))
  return { ok, edges: edges.map((edge) => edge.replace(/^packages.sluice.src./, '').split(': ')[0] as string), text }
}

function line(target: string): string {
  return target.startsWith('type ') ? `import type { T } from '${target.slice(5)}'` : `import { x } from '${target}'`
}

describe('the rooms of the library', () => {
  it('names an offending edge by file, line and target', () => {
    const { ok, edges, text } = check({ 'time/clock.ts': ['../errors/codes.ts', '../limiter/limiter.ts'] })
    expect(ok).toBe(false)
    expect(edges).toEqual(['time/clock.ts:2 -> limiter/limiter.ts'])
    expect(text).toContain('time | errors | errors, limiter | NO')
    expect(text).toContain('errors | nothing |  | yes')
  })

  it.each([
    ['a store imports another', { 'stores/shared/store.ts': '../memory/memory-store.ts' }],
    ['a store imports a store with a row of its own', { 'stores/memory/store.ts': '../redis/redis-store.ts' }],
    ['the ring imports a store', { 'stores/remote/breaker.ts': '../memory/memory-store.ts' }],
    ['the ring imports what is for stores', { 'stores/remote/breaker.ts': '../remote-calls.ts' }],
    ['a family imports a store', { 'stores/families/compare-and-swap.ts': '../memory/memory-store.ts' }],
    ['what stores share imports a store', { 'stores/remote-calls.ts': './memory/memory-store.ts' }],
    ['the limiter imports more of observe than its events', { 'limiter/limiter.ts': '../observe/metrics.ts' }],
    ['the limiter imports what stores share', { 'limiter/limiter.ts': '../stores/remote-calls.ts' }],
    ['types break a rule too', { 'decision/decision.ts': 'type ../limiter/limiter.ts' }],
    ['http loads the limiter', { 'http/handle.ts': '../limiter/limiter.ts' }],
    ['a room imports a public door', { 'pacing/stream.ts': '../create-limiter.ts' }],
    ['a room imports the kit', { 'limiter/limiter.ts': '../testing/audit.ts' }],
    ['a public door imports the kit', { 'index.ts': './testing/traces.ts' }],
    ['an import leaves src', { 'limiter/limiter.ts': '../../test/oracle.ts' }],
    ['a folder has no row', { 'novelty/new.ts': '../errors/codes.ts' }],
    ['a package is loaded', { 'identity/jwt.ts': 'jose' }],
    ['a driver is loaded', { 'stores/redis/client.ts': 'ioredis' }],
    ['even types of a driver, where a structural port serves', { 'stores/redis/client.ts': 'type ioredis' }],
    ['yaml is loaded outside of policy', { 'engine/engine.ts': 'yaml' }],
    ['Node is used where other runtimes must do', { 'identity/pseudonym.ts': 'node:crypto' }],
  ])('refuses: %s', (_, files) => {
    const { ok, edges } = check(files)
    expect(ok).toBe(false)
    expect(edges).toHaveLength(1)
  })

  it.each([
    [
      'stores share the port and the calls',
      { 'stores/redis/redis-store.ts': ['../store.ts', '../remote-calls.ts', '../../algorithms/group.ts'] },
    ],
    ['a store of several folders', { 'stores/shared/a/one.ts': '../b/two.ts' }],
    ['the ring imports the port', { 'stores/remote/breaker.ts': ['../store.ts', './lane.ts'] }],
    ['a store imports a family', { 'stores/postgres/postgres-store.ts': '../families/compare-and-swap.ts' }],
    ['http sees types of the limiter', { 'http/handle.ts': 'type ../limiter/limiter.ts' }],
    ['doors put everything together', { 'redis.ts': ['./stores/redis/index.ts', './limiter/limiter.ts', './create-limiter.ts'] }],
    ['the kit sees everything', { 'testing/suite.ts': ['../stores/memory/memory-store.ts', '../index.ts', 'vitest'] }],
    ["the kit's own door", { 'testing.ts': './testing/traces.ts' }],
    ['an optional peer where it belongs', { 'policy/parse.ts': 'yaml' }],
  ])('accepts: %s', (_, files) => {
    expect(check(files).edges).toEqual([])
  })
})

describe('the consumers', () => {
  it.each([
    'sluice/dist/index.js',
    'sluice/src/index.ts',
    'sluice/limiter',
    '../../packages/sluice/src/index.ts',
    '../../scripts/src/check.ts',
  ])('may not import %s', (target) => {
    const { edges } = check({ '/bench/src/main.ts': ['sluice', target] })
    expect(edges).toEqual([`bench/src/main.ts:2 -> ${target}`])
  })

  it('may import published subpaths, their own files and other packages', () => {
    expect(
      check({ '/packages/server/src/main.ts': ['sluice', 'sluice/remote', './serve.ts', '../test/a.ts', 'yaml', 'node:http'] }).edges,
    ).toEqual([])
  })
})
