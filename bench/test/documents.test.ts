import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { documentedParts, withFigures, writeFigures } from '../src/documents.ts'
import { bench, folder } from './run-bench.ts'

const FIGURES = { suite: 'redis', documents: { hot: '| figure |\n|---|\n| 5 x |' }, where: '2 cores; Redis 7' }
const NEW = [
  '<!-- bench: redis hot -->',
  '',
  '`npm run bench -- redis --only hot`, 2 cores; Redis 7:',
  '',
  '| figure |',
  '|---|',
  '| 5 x |',
  '',
  '<!-- /bench -->',
].join('\n')
const OLD = '<!-- bench: redis hot -->\n\nolder\n\n<!-- /bench -->'
const OTHER = '<!-- bench: redis different -->\n<!-- /bench -->'

describe('figures in documents', () => {
  it('replaces the blocks of what was measured, as often as they are there, and nothing else', () => {
    const text = ['# Title', OLD, OTHER, '<!-- bench: open hot -->\nkept\n<!-- /bench -->', OLD, 'end'].join('\n\n')
    const written = ['# Title', NEW, OTHER, '<!-- bench: open hot -->\nkept\n<!-- /bench -->', NEW, 'end'].join('\n\n')
    expect(withFigures(text, FIGURES)).toBe(written)
    expect(withFigures(written, FIGURES)).toBe(written)
  })

  it('wraps a long line about the machine, between words', () => {
    const where = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')
    const lines = withFigures(OLD, { ...FIGURES, where, options: ' --seconds 2' }).split('\n')
    expect(lines[2]).toMatch(/^`npm run bench -- redis --only hot --seconds 2`, word0 /)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120)
    expect(lines.slice(2, 6).join(' ')).toContain(`${where}:`)
  })

  it('leaves a block that does not end as it is', () => {
    const open = '<!-- bench: redis hot -->\n\nold\n'
    expect(withFigures(open, FIGURES)).toBe(open)
  })

  it('writes the files that changed and names them; what was built or installed is not looked at', () => {
    const root = folder()
    for (const path of ['docs', 'node_modules', 'docs/dist']) mkdirSync(join(root, path), { recursive: true })
    for (const path of ['docs/a.md', 'node_modules/b.md', 'docs/dist/c.md', 'docs/d.txt']) writeFileSync(join(root, path), OLD)
    writeFileSync(join(root, 'README.md'), NEW)
    expect(writeFigures(root, FIGURES)).toEqual([join('docs', 'a.md')])
    expect(readFileSync(join(root, 'docs/a.md'), 'utf8')).toBe(NEW)
    expect(readFileSync(join(root, 'node_modules/b.md'), 'utf8')).toBe(OLD)
  })

  it('every block of the repository names a part that a suite has', async () => {
    const { err: usage } = await bench([])
    const parts = new Map([...usage.matchAll(/^ {2}(\S+) +\S.*\n +parts: (.*)$/gm)].map(([, suite, names]) => [suite, names?.split(', ')]))
    const found = documentedParts(join(import.meta.dirname, '..', '..'))
    expect(found.length).toBeGreaterThan(0)
    for (const { suite, part, file } of found) expect(parts.get(suite), `${file}: ${suite} ${part}`).toContain(part)
  })
})
