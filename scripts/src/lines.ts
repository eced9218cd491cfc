import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { filesBelow } from './source-files.ts'

/**
 * `npm run lines -- [COMMIT]`: the size of the sources, at present and at a commit, after formatting at width 120. It counts lines that are
 * not blank. Of Lua it counts the bytes that are sent.
 */
const WIDTH = 120
const SOURCES = ['packages/sluice/src', 'packages/server/src']
/** The folder of the server at earlier commits. */
const EARLIER = 'apps/server/src'
const LUA = 'packages/sluice/src/stores/redis/programs.gen.ts'
const root = join(import.meta.dirname, '..', '..')

interface Area {
  readonly name: string
  readonly counts: (file: string) => boolean
}

const isCode = (file: string): boolean => file.endsWith('.ts') && !file.endsWith('.gen.ts')
const AREAS: readonly Area[] = [
  { name: 'library and server', counts: isCode },
  { name: 'stores around stores', counts: (file) => isCode(file) && /\/stores\/(?:wrap|remote)\//.test(file) },
  { name: 'SQL', counts: (file) => file.endsWith('.sql') },
]

async function main(): Promise<void> {
  const [commit] = process.argv.slice(2)
  const now = await measured((folder) => {
    for (const source of SOURCES) cpSync(join(root, source), join(folder, source), { recursive: true })
  })
  const before = commit === undefined ? undefined : await measured((folder) => archived(commit, folder))
  for (const [name, count] of now) {
    const other = before?.get(name)
    const ratio = other === undefined ? '' : `  ${other} at ${commit ?? ''}, ${(count / other).toFixed(2)} x`
    console.log(`${name}: ${count}${ratio}`)
  }
}

/** Counts the files that `fill` writes into an empty folder. */
async function measured(fill: (folder: string) => void): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lines-'))
  try {
    fill(folder)
    const style = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8')) as object
    writeFileSync(join(folder, '.oxfmtrc.json'), JSON.stringify({ ...style, $schema: undefined, printWidth: WIDTH }))
    execFileSync(join(root, 'node_modules/.bin/oxfmt'), ['.'], { cwd: folder, stdio: 'ignore' })
    const files = filesBelow(folder)
    const lines = AREAS.map(({ name, counts }): [string, number] => [
      `${name}, lines`,
      files.filter(counts).reduce((sum, file) => sum + linesOf(readFileSync(join(folder, file), 'utf8')), 0),
    ])
    return new Map([...lines, ['Lua as sent, bytes', await sentBytes(readFileSync(join(folder, LUA), 'utf8'))]])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function archived(commit: string, folder: string): void {
  const there = execFileSync('git', ['ls-tree', '-d', '--name-only', commit, ...SOURCES, EARLIER], { cwd: root, encoding: 'utf8' })
  const archive = execFileSync('git', ['archive', commit, ...there.trim().split('\n')], { cwd: root, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
}

function linesOf(text: string): number {
  return text.split('\n').filter((line) => line.trim() !== '').length
}

/** The bytes of all programs. At earlier commits the source of a program is a text; now it is a function that returns the text. */
async function sentBytes(generated: string): Promise<number> {
  const { code } = transformSync(generated, { loader: 'ts', format: 'esm' })
  const programs = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, { source: string | (() => string) }>
  const sources = Object.values(programs).map(({ source }) => (typeof source === 'string' ? source : source()))
  return sources.reduce((sum, source) => sum + Buffer.byteLength(source), 0)
}

await main()
