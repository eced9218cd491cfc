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

const BASE = ['algorithms', 'decision', 'time', 'errors']

export const ROOMS: readonly Room[] = [
  { folder: 'errors', mayImport: [] },
  { folder: 'time', mayImport: ['errors'] },
  { folder: 'decision', mayImport: ['time', 'errors'] },
  { folder: 'algorithms', mayImport: ['decision', 'time', 'errors'] },
  { folder: 'keys', mayImport: ['errors'] },
  { folder: 'stores', mayImport: [...BASE, 'keys', 'observe/events.ts'] },
  { folder: 'stores/remote', mayImport: [...BASE, 'stores/store.ts', 'observe/events.ts'] },
  { folder: 'stores/batch', mayImport: [...BASE, 'keys', 'stores/store.ts'] },
  { folder: 'stores/families', mayImport: [...BASE, 'stores', 'stores/batch'] },
  { folder: 'stores/*', mayImport: [...BASE, 'keys', 'stores', 'stores/batch', 'stores/families'] },
  { folder: 'identity', mayImport: ['errors'] },
  {
    folder: 'policy',
    mayImport: ['identity', 'algorithms', 'time', 'errors'],
    outside: [{ name: 'yaml', typesOnly: false, reason: 'an optional peer: the policy file is YAML' }],
  },
  { folder: 'observe', mayImport: ['decision', 'time', 'errors'] },
  { folder: 'limiter', mayImport: [...BASE, 'keys', 'observe/events.ts', 'stores/store.ts'] },
  { folder: 'engine', mayImport: [...BASE, 'keys', 'policy', 'identity', 'limiter', 'observe/events.ts', 'stores/store.ts'] },
  { folder: 'pacing', mayImport: ['limiter', 'time', 'errors'] },
  // What a policy chooses about headers is what an adapter's option chooses: one file of the policy says it for both.
  { folder: 'http', mayImport: ['decision', 'identity', 'errors', 'policy/model/header-choice.ts'], typesOf: ['limiter', 'engine'] },
  {
    folder: 'adapters',
    mayImport: ['http'],
    typesOf: ['decision'],
  },
  {
    folder: 'testing',
    mayImport: ['*'],
    outside: [
      { name: 'vitest', typesOnly: false, reason: 'an optional peer: the kit declares tests' },
      { name: 'node:', typesOnly: false, reason: 'the adapter suite sends requests over its own connections' },
    ],
  },
  // The doors: files directly in src put rooms together.
  { folder: '.', mayImport: ['*'] },
]

/** Workspaces that use the library as everybody does: by its published subpaths. */
export const CONSUMERS: readonly string[] = ['packages/server', 'apps', 'bench', 'examples']
