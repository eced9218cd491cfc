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
  ['unused directive', `// oxlint-disable-next-line typescript/no-explicit-any -- gone\nexport const a = 1\n`],
]

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
  ...Object.fromEntries(WRONG.map(([, text], index) => [`${LIMITER}/wrong-${index}.ts`, text])),
}

/** By file: what the repository's own configuration reports, in one run over all the texts. */
const reported = new Map<string, string[]>()

beforeAll(() => {
  const compilerOptions = { strict: true, target: 'es2023', types: [], module: 'nodenext', allowImportingTsExtensions: true, noEmit: true }
  const root = plant({
    '.oxlintrc.json': readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8'),
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
