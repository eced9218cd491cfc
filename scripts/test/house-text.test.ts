import { describe, expect, it } from 'vitest'
import { checkTexts } from '../src/house-text.ts'
import { tree } from './tree.ts'

/** Joins a path at run time, because the check would report this file if it contained such a path. */
const path = (...parts: readonly string[]): string => `/${parts.join('/')}`
const host = ['registry', 'npmjs', 'org'].join('.')

describe('checkTexts', () => {
  it.each([
    ['a machine path', { 'docs/a.md': `see ${path('home', 'me', 'x')}` }],
    ['a machine path at the start of a line', { 'a.ts': path('work', 'x') }],
    ['a registry', { 'a.yaml': `url: https://${host}/x` }],
    ['a registry setting', { '.npmrc': `registry=https://example.org` }],
    ['a resolved package', { 'package-lock.json': `"resolved": "https://example.org/x.tgz"` }],
    ['a long readme', { 'packages/x/README.md': 'x\n'.repeat(151) }],
  ])('refuses %s', (_, files) => {
    const { ok, text } = checkTexts(tree(files))
    expect(ok).toBe(false)
    expect(text.split('\n')).toHaveLength(1)
  })

  it('accepts what only looks alike', () => {
    const root = tree({
      'README.md': 'x\n'.repeat(150),
      'a.ts': `get('https://example.org/home/page')`,
      'package-lock.json': `"resolved": "packages/sluice"`,
      'picture.png': `\0${path('root', 'x')}`,
    })
    expect(checkTexts(root)).toEqual({ ok: true, text: '' })
  })
})
