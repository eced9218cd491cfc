/** A room: sources that are checked by the same tests, and the share of their mutants that these tests must notice. */
export interface Room {
  readonly name: string
  /** Files and folders, below the root. */
  readonly paths: readonly string[]
  /** The least share of mutants that the tests must notice. */
  readonly goal: number
  /**
   * Globs of the test files to use. `without` has globs of those among them that are left out. For a source, only tests that import it
   * run.
   */
  readonly tests: readonly string[]
  readonly without: readonly string[]
  readonly engines: readonly EngineName[]
}

export type EngineName = 'redis' | 'postgres'

const SRC = 'packages/sluice/src'
const TEST = 'packages/sluice/test'
const NEVER = ['**/node_modules/**', '**/*.{fault,long,stores}.test.ts']
/** Tests that need a server or very many keys. They are slow, and a kernel must be checked by its own tests. */
const OF_ENGINES = ['**/faults/**', '**/conformance/{redis,postgres,pglite,around,by-slot}*.test.ts', '**/stores/{redis,postgres}/**']

export const ROOMS: readonly Room[] = [
  {
    name: 'kernels',
    paths: [`${SRC}/algorithms`, `${SRC}/stores/memory`],
    goal: 0.95,
    tests: [`${TEST}/{laws,limiter,stores/memory}/**/*.test.ts`, `${TEST}/stores/*.test.ts`, `${TEST}/conformance/memory.test.ts`],
    without: NEVER,
    engines: [],
  },
  {
    name: 'Lua',
    paths: [`${SRC}/stores/redis/lua`],
    goal: 0.85,
    tests: [`${TEST}/conformance/{redis,redis-packed}.test.ts`, `${TEST}/stores/redis/*.test.ts`],
    without: NEVER,
    engines: ['redis'],
  },
  {
    name: 'SQL',
    paths: [`${SRC}/stores/postgres/sql`],
    goal: 0.85,
    tests: [`${TEST}/conformance/postgres.test.ts`, `${TEST}/stores/postgres/*.test.ts`, `${TEST}/seeds/postgresql*.test.ts`],
    without: NEVER,
    engines: ['postgres'],
  },
  {
    name: 'ring',
    paths: [
      `${SRC}/stores/remote`,
      `${SRC}/stores/families`,
      ...['divided-limit', 'no-program', 'observed', 'remote-calls'].map((name) => `${SRC}/stores/${name}.ts`),
    ],
    goal: 0.8,
    tests: [
      `${TEST}/stores/{remote,families}/**/*.test.ts`,
      `${TEST}/stores/*.test.ts`,
      `${TEST}/conformance/{around,by-slot}.test.ts`,
      `${TEST}/laws/{share,strict-leases}.test.ts`,
    ],
    without: NEVER,
    engines: [],
  },
  {
    name: 'batch',
    paths: [`${SRC}/stores/batch`],
    goal: 0.8,
    tests: [`${TEST}/stores/{batch,families,redis}/**/*.test.ts`, `${TEST}/stores/*.test.ts`, `${TEST}/conformance/redis.test.ts`],
    without: NEVER,
    engines: ['redis'],
  },
  {
    name: 'limiter',
    paths: [`${SRC}/limiter`, `${SRC}/engine`],
    goal: 0.8,
    tests: [`${TEST}/{limiter,engine,observe,pacing,redis}/**/*.test.ts`, `${TEST}/misuse.test.ts`, `${TEST}/conformance/memory.test.ts`],
    without: NEVER,
    engines: [],
  },
  {
    name: 'HTTP',
    paths: [`${SRC}/http`],
    goal: 0.8,
    tests: [`${TEST}/{http,adapters}/**/*.test.ts`, `${TEST}/misuse.test.ts`],
    without: NEVER,
    engines: [],
  },
]

/** The room of all other sources, if they are requested. Its tests are all those that need no server. */
export const ELSEWHERE: Room = {
  name: 'elsewhere',
  paths: [],
  goal: 0.8,
  tests: [`${TEST}/**/*.test.ts`],
  without: [...NEVER, ...OF_ENGINES],
  engines: [],
}

/** The room of a file, by its path below the root. */
export function roomOf(file: string): Room {
  return ROOMS.find(({ paths }) => paths.some((path) => file === path || file.startsWith(`${path}/`))) ?? ELSEWHERE
}
