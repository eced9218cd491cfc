/** A folder of packages/sluice/src and what its files may import. The one place where these rules are written down as data. */
export interface Room {
  /** Below src; `stores/*` stands for every folder of stores that has no row of its own. */
  readonly folder: string
  /** Rooms, by their row, and single files. Its own folder is always allowed; a folder in it with its own row is another room. */
  readonly mayImport: readonly string[]
  /** Of these only types. */
  readonly typesOf?: readonly string[]
  /** Packages from outside, and why. */
  readonly outside?: readonly Outside[]
}

export interface Outside {
  /** A package name, or `node:` for every module of Node. */
  readonly name: string
  readonly typesOnly: boolean
  readonly reason: string
}

const NODE: Outside = { name: 'node:', typesOnly: false, reason: 'an adapter for Node speaks its requests and responses' }

/** Types of frameworks and drivers are erased; the running code sees structural ports only. */
function typesOf(...names: readonly string[]): Outside[] {
  return names.map((name) => ({ name, typesOnly: true, reason: 'its types; nothing is loaded' }))
}

const BASE = ['algorithms', 'decision', 'time', 'errors']

export const ROOMS: readonly Room[] = [
  { folder: 'errors', mayImport: [] },
  { folder: 'time', mayImport: ['errors'] },
  { folder: 'decision', mayImport: ['time', 'errors'] },
  { folder: 'algorithms', mayImport: ['decision', 'time', 'errors'] },
  { folder: 'keys', mayImport: ['errors'] },
  { folder: 'stores', mayImport: [...BASE, 'keys'] },
  { folder: 'stores/wrap', mayImport: [...BASE, 'stores/store.ts'] },
  { folder: 'stores/redis', mayImport: [...BASE, 'keys', 'stores'], outside: typesOf('ioredis') },
  { folder: 'stores/postgres', mayImport: [...BASE, 'stores'], outside: typesOf('pg', '@electric-sql/pglite') },
  { folder: 'stores/*', mayImport: [...BASE, 'stores'] },
  { folder: 'identity', mayImport: ['errors'] },
  {
    folder: 'policy',
    mayImport: ['identity', 'algorithms', 'time', 'errors'],
    outside: [{ name: 'yaml', typesOnly: false, reason: 'an optional peer: the policy file is YAML' }],
  },
  { folder: 'observe', mayImport: ['decision', 'time'] },
  { folder: 'limiter', mayImport: [...BASE, 'keys', 'observe/events.ts', 'stores/store.ts'] },
  { folder: 'engine', mayImport: [...BASE, 'keys', 'policy', 'identity', 'limiter', 'observe/events.ts', 'stores/store.ts'] },
  { folder: 'pacing', mayImport: ['limiter', 'time', 'errors'] },
  { folder: 'http', mayImport: ['decision', 'identity', 'errors'], typesOf: ['limiter', 'engine'] },
  {
    folder: 'adapters',
    mayImport: ['http'],
    typesOf: ['decision'],
    outside: [NODE, ...typesOf('express', 'fastify', 'koa', 'hono', '@nestjs/common')],
  },
  {
    folder: 'testing',
    mayImport: ['*'],
    outside: [
      { name: 'vitest', typesOnly: false, reason: 'an optional peer: the kit declares tests' },
      { name: 'fast-check', typesOnly: false, reason: 'the kit declares properties' },
    ],
  },
  // The public doors: files directly in src put rooms together. Only the kit's own door may open onto the kit.
  { folder: '.', mayImport: ['*'] },
]

/** Workspaces that use the library as everybody does: by its published subpaths. */
export const CONSUMERS: readonly string[] = ['apps', 'bench', 'examples']
