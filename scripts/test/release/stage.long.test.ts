import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LimiterError } from 'sluice'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changelogOf, versionOf } from '../../src/release/state.ts'
import { stage, type Staged } from '../../src/release/stage.ts'
import { tree } from '../tree.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const NOBODY = { repository: '', homepage: '', bugs: '', publisher: '' }
const OWNER = { repository: 'https://github.com/o/n', homepage: 'https://o.dev', bugs: 'https://github.com/o/n/issues', publisher: 'token' }

describe('the packages as they are published', () => {
  let folder: string
  let library: Staged
  let server: Staged
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
    ;[library, server] = stage(ROOT, join(folder, 'node_modules'), NOBODY) as [Staged, Staged]
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const node = (code: string) => spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' })

  it('U4: the help of every error is a page and a heading of the package', () => {
    const declared = readFileSync(join(ROOT, 'packages/sluice/src/errors/limiter-error.ts'), 'utf8')
    const codes = [...(/type ErrorCode =([^]*?)\n\n/.exec(declared)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(
      ([, code]) => code as LimiterError['code'],
    )
    expect(codes.length).toBeGreaterThan(10)
    for (const code of codes) {
      const [page = '', heading] = new LimiterError(code, '').help.split('#')
      const text = readFileSync(join(folder, 'node_modules', page), 'utf8')
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => words.toLowerCase().replaceAll('`', ''))
      expect(headings).toContain(heading)
    }
  })

  it('U4: no file names a source map', () => {
    for (const { folder: at } of [library, server])
      for (const file of readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:js|map)$/.test(name)))
        expect(file.endsWith('.map') || readFileSync(join(at, file), 'utf8').includes('sourceMappingURL=')).toBe(false)
  })

  it('U4: a missing yaml is reported with the line that installs it', () => {
    const line = 'sluice/policy needs the package yaml. Install it: npm install yaml'
    expect(node(`await import('sluice/policy').catch((error) => console.log(error.message))`).stdout).toBe(`${line}\n`)
    const required = `import { createRequire } from 'node:module'; createRequire(import.meta.url)('sluice/policy')`
    expect(node(required).stderr).toContain(`Error: ${line}\n`)
  })

  it('U4: manualClock loads without vitest', () => {
    const { stdout, stderr } = node(`import { manualClock } from 'sluice/clock'; console.log(typeof manualClock(5_000_000).now)`)
    expect([stdout, stderr]).toEqual(['function\n', ''])
  })

  it('U4: the server needs no package that is not published, and brings its page', () => {
    expect(Object.keys(server.manifest.dependencies ?? {}).filter((name) => name.startsWith('@sluice/'))).toEqual([])
    for (const file of ['index.html', 'page.js', 'page.css']) expect(existsSync(join(server.folder, 'dist/page-files', file))).toBe(true)
    expect(server.manifest.bin).toEqual({ sluice: './dist/main.js' })
  })

  it('say nothing about the repository as long as the owner has not', () => {
    expect(library.manifest).not.toHaveProperty('repository')
    expect(JSON.stringify(library.manifest)).not.toMatch(/sluice-source|devDependencies|"private"/)
  })

  it('name the repository, from which npm attests that they come', () => {
    const [first] = stage(ROOT, join(folder, 'owned'), OWNER)
    expect(first?.manifest).toMatchObject({
      repository: { type: 'git', url: 'git+https://github.com/o/n.git', directory: 'packages/sluice' },
      homepage: 'https://o.dev',
      bugs: { url: 'https://github.com/o/n/issues' },
    })
  })
})

describe('the state of a release', () => {
  it('has one version', () => expect(versionOf(ROOT).problems).toEqual([]))

  it('names what has another version', () => {
    const root = tree({
      'packages/sluice/package.json': '{"name":"sluice","version":"0.2.0"}',
      'packages/server/package.json': '{"name":"sluice-server","version":"0.1.0","dependencies":{"sluice":"0.1.0"}}',
      'package-lock.json': '{"packages":{"packages/sluice":{"version":"0.2.0"},"packages/server":{"version":"0.1.0"}}}',
    })
    expect(versionOf(root).problems).toEqual([
      'packages/server/package.json: the version is 0.1.0, that of sluice 0.2.0',
      'packages/server/package.json: needs sluice 0.1.0, and 0.2.0 is built',
      'package-lock.json: packages/server is 0.1.0, not 0.2.0: run npm install',
    ])
  })

  it.each([
    ['## Unreleased\n\n## 0.1.0 - 2026-01-01\n', 'unreleased'],
    ['# Changelog\n\n## 0.2.0 - 2026-11-23\n', 'released'],
    ['## 0.2.0\n', 'missing'],
    ['## 0.1.0 - 2026-01-01\n## 0.2.0 - 2026-11-23\n', 'missing'],
  ])('reads the first heading of the changelog: %j', (text, state) =>
    expect(changelogOf(tree({ 'CHANGELOG.md': text }), '0.2.0')).toBe(state),
  )
})
