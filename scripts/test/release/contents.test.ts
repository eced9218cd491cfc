import { describe, expect, it } from 'vitest'
import { problemsOf } from '../../src/release/contents.ts'
import type { Staged } from '../../src/release/stage.ts'
import { tree } from '../tree.ts'

const MANIFEST = {
  name: 'sluice',
  version: '1.0.0',
  files: [],
  peerDependencies: { yaml: '2' },
  exports: { '.': './dist/index.d.ts' },
}
const WELL = { 'package.json': '{}', 'README.md': '[a](docs/a.md)\n', 'docs/a.md': 'a\n', 'dist/index.d.ts': 'export {}\n' }

function problems(files: Readonly<Record<string, string>>, manifest: object = {}): string[] {
  const staged = { folder: tree(files), from: 'packages/sluice', manifest: { ...MANIFEST, ...manifest } } as Staged
  return problemsOf(staged, Object.keys(files))
}

describe('the files of a published package', () => {
  it('may import what they contain, what they need, and modules of Node', () => {
    const code = `import 'yaml'\nimport 'node:fs'\nimport './index.js'\nexport * from 'yaml/x'\n`
    expect(problems({ ...WELL, 'dist/index.js': '', 'dist/main.js': code })).toEqual([])
  })

  it.each([
    ['a test', { 'test/a.test.ts': '' }, 'test/a.test.ts does not belong'],
    ['a source map', { 'dist/index.js.map': '{}' }, 'dist/index.js.map does not belong'],
    ['the name of a source map', { 'dist/index.js': 'x\n//# sourceMappingURL=index.js.map\n' }, 'dist/index.js names a source map'],
    ['an import of no dependency', { 'dist/index.js': `import '@x/y/z'` }, 'dist/index.js imports @x/y, which is no dependency'],
    ['a lost dynamic import', { 'dist/index.js': `await import('./no.js')` }, 'imports ./no.js, which is not in the package'],
    ['a lost type', { 'dist/main.d.ts': `export type A = import('./no.ts').A` }, 'imports ./no.ts, which is not in the package'],
    ['a lost page', { 'docs/a.md': '[b](b.md#c)' }, 'docs/a.md links to b.md, which is not in the package'],
  ])('are refused: %s', (_, files, expected) => {
    expect(problems({ ...WELL, ...files })).toEqual([expect.stringContaining(expected)])
  })

  it('must contain what the manifest names', () => {
    expect(problems(WELL, { exports: { './x': './dist/x.d.ts' } })).toEqual(['sluice: package.json: ./dist/x.d.ts is not in the package'])
  })

  it('must have the same conditions for every subpath', () => {
    const entry = { types: './dist/index.d.ts', node: './dist/index.d.ts', default: './dist/index.d.ts' }
    expect(problems(WELL, { exports: { './x': entry } })).toEqual([
      'sluice: package.json: the conditions of ./x are types, node, default: expected types, module, node, default',
    ])
  })
})
