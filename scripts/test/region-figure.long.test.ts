import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

it('the figure of docs/regions.md is what the regions do today: else npm run figure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-figure-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'regions.svg')
  execFileSync(process.execPath, [join(root, 'scripts', 'dist', 'region-figure.js'), file])
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(root, 'docs', 'images', 'regions.svg'), 'utf8'))
})
