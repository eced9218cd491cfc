import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { plant } from './tree.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const LIMITER = 'packages/sluice/src/limiter'

/** A text for the library, and the rule that must report it. */
const WRONG: readonly (readonly [rule: string, text: string])[] = [
  ['no-floating-promises', `async function f(): Promise<void> {}\nexport function g(): void {\n  f()\n}\n`],
  ['no-misused-promises', `export function g(list: number[], f: (n: number) => Promise<void>): void {\n  list.forEach(f)\n}\n`],
  ['await-thenable', `export async function g(n: number): Promise<number> {\n  return await n\n}\n`],
  ['switch-exhaustiveness-check', `export function g(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      g('b')\n  }\n}\n`],
  ['no-explicit-any', `export const a: any = 1\n`],
  ['no-default-export', `export default 1\n`],
  ['no-restricted-globals', `export const a: number = Date.now()\n`],
  ['no-restricted-globals', `export const a: number = new Date().getTime()\n`],
  ['no-restricted-globals', `export const a: number = performance.now()\n`],
  ['no-restricted-globals', `setTimeout(() => {}, 1)\nexport {}\n`],
  ['no-restricted-globals', `setInterval(() => {}, 1)\nexport {}\n`],
  ['no-restricted-globals', `setImmediate(() => {})\nexport {}\n`],
  ['no-restricted-properties', `export const a: number = Math.random()\n`],
  ['no-restricted-properties', `export const a: number = globalThis.performance.now()\n`],
  ['no-console', `console.log(1)\nexport {}\n`],
  ['eqeqeq', `export const f = (a: number): boolean => a == 1\n`],
  ['no-unused-vars', `const a = 1\nexport {}\n`],
  ['max-lines-per-function', `export function g(): void {\n${'  g()\n'.repeat(59)}}\n`],
  ['unused directive', `// oxlint-disable-next-line typescript/no-explicit-any -- gone\nexport const a = 1\n`],
]

/** Makes the text of a test that is skipped. It is joined from parts, because the lint would report it in this file. */
function leftOut(of: string, how: string): string {
  return `${of}.${how}('x', () => {})`
}

/** Tests that are skipped, and the rule that must report each of them. A skip with a condition (`skipIf`) is allowed. */
const LEFT_OUT: readonly (readonly [rule: string, text: string])[] = [
  ['no-focused-tests', leftOut('it', 'only')],
  ['no-focused-tests', leftOut('describe', 'only')],
  ['no-disabled-tests', leftOut('it', 'skip')],
  ['no-disabled-tests', leftOut('describe', 'skip')],
  ['no-disabled-tests', leftOut('it', 'skip.each([1])')],
  ['warn-todo', leftOut('it', 'todo')],
  ['nothing', `it.skipIf(process.platform !== 'linux')('x', () => {})`],
  ['nothing', `it('x', (context) => context.skip(process.platform !== 'linux', 'the reason'))`],
]

/**
 * What is imported by whom: the file, what it imports, and whether the import rules refuse that. Paths are relative to
 * `packages/sluice/src`, or to the root if they begin with a slash.
 */
const IMPORTS: readonly (readonly [what: string, file: string, target: string, refused?: 'refused'])[] = [
  ['a room imports what is below it', 'time/clock.ts', '../errors/codes.ts'],
  ['a room imports what is above it', 'time/clock.ts', '../limiter/limiter.ts', 'refused'],
  ['a store imports another', 'stores/memory/store.ts', '../redis/redis-store.ts', 'refused'],
  ['a store imports another from a folder of it', 'stores/redis/clients/port.ts', '../../memory/memory-store.ts', 'refused'],
  ['a store imports a room above it from a folder of it', 'stores/redis/clients/port.ts', '../../../limiter/limiter.ts', 'refused'],
  ['a store imports a folder of its own', 'stores/shared/a/one.ts', '../b/two.ts'],
  ['a store imports the port', 'stores/redis/clients/port.ts', '../../store.ts'],
  ['a store imports a kernel', 'stores/redis/redis-store.ts', '../../algorithms/group.ts'],
  ['a store imports a family', 'stores/postgres/postgres-store.ts', '../families/compare-and-swap.ts'],
  ['a store imports the batch', 'stores/postgres/postgres-store.ts', '../batch/replay.ts'],
  ['the batch imports a store', 'stores/batch/replay.ts', '../redis/reply.ts', 'refused'],
  ['the batch imports more than the port', 'stores/batch/replay.ts', '../remote-calls.ts', 'refused'],
  ['the ring imports the port', 'stores/remote/breaker.ts', '../store.ts'],
  ['the ring imports a store', 'stores/remote/breaker.ts', '../memory/memory-store.ts', 'refused'],
  ['the ring imports what is for stores', 'stores/remote/breaker.ts', '../remote-calls.ts', 'refused'],
  ['a family imports a store', 'stores/families/compare-and-swap.ts', '../memory/memory-store.ts', 'refused'],
  ['what stores share imports a store', 'stores/remote-calls.ts', './memory/memory-store.ts', 'refused'],
  ['the limiter imports more of observe than its events', 'limiter/limiter.ts', '../observe/metrics.ts', 'refused'],
  ['the limiter imports what stores share', 'limiter/limiter.ts', '../stores/remote-calls.ts', 'refused'],
  ['types break a rule too', 'decision/decision.ts', 'type ../limiter/limiter.ts', 'refused'],
  ['a re-export breaks a rule too', 'decision/decision.ts', 'export ../limiter/limiter.ts', 'refused'],
  ['an import at run time breaks a rule too', 'decision/decision.ts', 'await ../limiter/limiter.ts', 'refused'],
  ['http loads the limiter', 'http/handle.ts', '../limiter/limiter.ts', 'refused'],
  ['an adapter loads a decision', 'adapters/express.ts', '../decision/decision.ts', 'refused'],
  ['an adapter sees types of a decision', 'adapters/express.ts', 'type ../decision/decision.ts'],
  ['http sees types of the limiter', 'http/handle.ts', 'type ../limiter/limiter.ts'],
  ['a dialect of policies imports the limiter', 'policy/native/rule.ts', '../../limiter/limiter.ts', 'refused'],
  ['a dialect of policies imports the model', 'policy/native/rule.ts', '../model/rule.ts'],
  ['an optional peer where it belongs', 'policy/document/parse.ts', 'yaml'],
  ['yaml is loaded outside of policy', 'engine/engine.ts', 'yaml', 'refused'],
  ['a room imports a public door', 'pacing/stream.ts', '../create-limiter.ts', 'refused'],
  ['a room imports the kit', 'limiter/limiter.ts', '../testing/audit.ts', 'refused'],
  ['a public door imports the kit', 'index.ts', './testing/traces.ts', 'refused'],
  ['a public door imports a room', 'redis.ts', './stores/redis/index.ts'],
  ["the kit's own door imports the kit", 'testing.ts', './testing/traces.ts'],
  ['the kit imports a room', 'testing/store-suite/suite.ts', '../../stores/memory/memory-store.ts'],
  ['the kit declares tests', 'testing/suite.ts', 'vitest'],
  ['the kit has connections of its own', 'testing/send-http.ts', 'node:http'],
  ['an import leaves src', 'limiter/limiter.ts', '../../test/oracle.ts', 'refused'],
  ['a folder has no row', 'novelty/new.ts', '../errors/codes.ts', 'refused'],
  ['a package is loaded', 'identity/jwt.ts', 'jose', 'refused'],
  ['even types of a driver, where a structural port serves', 'stores/redis/client.ts', 'type ioredis', 'refused'],
  ['Node is used where other runtimes must do', 'identity/pseudonym.ts', 'node:crypto', 'refused'],
  ['a door has a dependency', 'redis.ts', 'ioredis', 'refused'],
  ['a program imports the library', '/bench/src/main.ts', 'sluice/remote'],
  ['a program imports its own file', '/packages/server/test/main.test.ts', '../src/serve.ts'],
  ['a program imports a source of the library', '/bench/src/main.ts', '../../packages/sluice/src/index.ts', 'refused'],
  ['a program next to the library does', '/packages/server/src/policy/read.ts', '../../../sluice/src/index.ts', 'refused'],
  ['a program imports a script', '/bench/src/main.ts', '../../scripts/src/check.ts', 'refused'],
  ['a program imports what is not published', '/bench/src/main.ts', 'sluice/dist/index.js', 'refused'],
]

/** A file of its own next to the one that is named. */
function importingFile(file: string, index: number): string {
  const whole = file.startsWith('/') ? file.slice(1) : `packages/sluice/src/${file}`
  return file === 'testing.ts' ? whole : whole.replace(/[^/]*$/, `import-${index}.ts`)
}

function importOf(target: string): string {
  const [word, path] = target.includes(' ') ? (target.split(' ') as [string, string]) : ['', target]
  if (word === 'await') return `export const x: unknown = await import('${path}')\n`
  return word === 'export'
    ? `export { x } from '${path}'\n`
    : `import ${word === 'type' ? 'type ' : ''}{ x } from '${path}'\nexport type X = typeof x\n`
}

const REAL_TIME = `export const a: number = Date.now() + performance.now() + Math.random()\nsetTimeout(() => {}, 1)\n`
const FREE = ['packages/sluice/src/time', 'packages/sluice/test', 'packages/server/src', 'bench/src', 'scripts/src', 'examples/one']

const TEXTS: Readonly<Record<string, string>> = {
  'bench/cycle/a.ts': `import type { B } from './b.ts'\nexport type A = B | 1\n`,
  'bench/cycle/b.ts': `import type { A } from './a.ts'\nexport type B = A[]\n`,
  'bench/types/a.ts': `export interface A {\n  a: 1\n}\n`,
  'bench/types/b.ts': `import { A } from './a.ts'\nexport const b: A = { a: 1 }\n`,
  'vitest.config.ts': 'export default {}\n',
  'vitest.faults.config.ts': 'export default {}\n',
  'vitest.stores.config.ts': 'export default {}\n',
  ...Object.fromEntries(FREE.map((folder) => [`${folder}/clock.ts`, REAL_TIME])),
  ...Object.fromEntries(IMPORTS.map(([, file, target], index) => [importingFile(file, index), importOf(target)])),
  ...Object.fromEntries(
    LEFT_OUT.map(([, text], index) => [
      `bench/test/left-out-${index}.test.ts`,
      `import { ${text.split(/\W/)[0]} } from 'vitest'\n${text}\n`,
    ]),
  ),
  ...Object.fromEntries(WRONG.map(([, text], index) => [`${LIMITER}/wrong-${index}.ts`, text])),
}

/** By file: what the lint reports with the repository's own configuration. All texts are checked in one run. */
const reported = new Map<string, string[]>()

beforeAll(() => {
  const compilerOptions = { strict: true, target: 'es2023', types: [], module: 'nodenext', allowImportingTsExtensions: true, noEmit: true }
  const root = plant({
    ...Object.fromEntries(['.oxlintrc.json', '.oxlint-imports.json'].map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])),
    'tsconfig.json': JSON.stringify({ compilerOptions }),
    ...TEXTS,
  })
  const program = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint')
  const { stdout } = spawnSync(process.execPath, [program, '--format', 'json', '.'], { cwd: root, encoding: 'utf8' })
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code?: string; filename: string }[] }
  for (const { code = 'unused directive', filename } of diagnostics) {
    reported.set(filename, [...(reported.get(filename) ?? []), code.replace(/^.*\((.*)\)$/, '$1')])
  }
  return () => rmSync(root, { recursive: true, force: true })
})

describe('the lint configuration', () => {
  it.each(WRONG.map(([rule, text], index) => ({ rule, index, first: text.split('\n')[0] })))('reports $rule: $first', ({ rule, index }) => {
    expect(reported.get(`${LIMITER}/wrong-${index}.ts`)).toContain(rule)
  })

  it.each(IMPORTS.map(([what, file, , refused], index) => ({ what, file: importingFile(file, index), refused: refused ?? 'allowed' })))(
    'imports: $what: $refused',
    ({ file, refused }) => {
      expect(reported.get(file)?.includes('no-restricted-imports') ?? false).toBe(refused === 'refused')
    },
  )

  it.each(LEFT_OUT.map(([rule, text], index) => ({ rule, text, index })))('reports $rule: $text', ({ rule, index }) => {
    expect(reported.get(`bench/test/left-out-${index}.test.ts`) ?? []).toEqual(rule === 'nothing' ? [] : [rule])
  })

  it('reports an import of types that is not marked as one', () => {
    expect(reported.get('bench/types/b.ts')).toEqual(['consistent-type-imports'])
  })

  it('reports a cycle, of types too', () => {
    expect(reported.get('bench/cycle/a.ts')).toEqual(['no-cycle'])
    expect(reported.get('bench/cycle/b.ts')).toEqual(['no-cycle'])
  })

  it.each(FREE)('lets %s touch real time', (folder) => {
    expect(reported.get(`${folder}/clock.ts`)).toBeUndefined()
  })

  it.each(['vitest.config.ts', 'vitest.faults.config.ts', 'vitest.stores.config.ts'])('lets %s export a default', (file) => {
    expect(reported.get(file)).toBeUndefined()
  })
})
