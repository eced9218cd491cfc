import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkApi } from '../src/api.ts'
import { tree } from './tree.ts'

const HEAD = readFileSync(join(import.meta.dirname, '..', '..', 'packages', 'sluice', 'api.txt'), 'utf8').split('\n')[0] ?? ''
const MANIFEST = JSON.stringify({
  exports: { '.': { types: './dist/index.d.ts' }, './b': { types: './dist/b.d.ts' }, './c.json': './c.json' },
})
const FILES: Readonly<Record<string, string>> = {
  'dist/index.d.ts': `import { type Inner } from './deep/inner.ts';\nexport { one } from './deep/inner.ts';\nexport type { Inner };\nexport declare const two: number;\n`,
  'dist/b.d.ts': `export * from './deep/inner.ts';\nexport { one as first } from './deep/inner.ts';\n`,
  'dist/deep/inner.d.ts': [
    '/** Says what it promises. */',
    'export interface Inner {',
    '    /** In bytes. */',
    '    readonly size: number;',
    '}',
    'declare function one(a: string): void;',
    'declare function one(a: number): void;',
    'interface Hidden {',
    '}',
    'export { one };',
    '',
  ].join('\n'),
}
const REPORT = `${HEAD}

## sluice

interface Inner {
    readonly size: number;
}
function one(a: string): void;
function one(a: number): void;
const two: number;

## sluice/b

Inner: as in sluice
first: function one(a: string): void;
function one(a: number): void;
one: as in sluice
`

function check(report: string, files = FILES): { ok: boolean; text: string } {
  const all = { 'package.json': MANIFEST, 'api.txt': report, ...files }
  return checkApi(tree(Object.fromEntries(Object.entries(all).map(([file, text]) => [`packages/sluice/${file}`, text]))))
}

describe('checkApi', () => {
  it('finds what each subpath exports, with its declaration and without its comments', () => {
    expect(check(REPORT)).toEqual({ ok: true, text: '' })
  })

  it('names what was lost and what came', () => {
    const { ok, text } = check(REPORT.replace('const two: number;', 'const two: string;\nconst three: number;'))
    expect(ok).toBe(false)
    expect(text.split('\n').slice(1)).toEqual(['- const two: string;', '- const three: number;', '+ const two: number;'])
  })

  it('refuses an export that it cannot find', () => {
    expect(() => check(REPORT, { ...FILES, 'dist/b.d.ts': `export { nothing } from './deep/inner.ts';\n` })).toThrow(
      /no declaration of nothing/,
    )
  })
})
