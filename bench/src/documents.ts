import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { partMarkdown, tableMarkdown } from './render/markdown.ts'
import { machineText } from './render/text.ts'
import { VIEWS } from './render/views.ts'
import type { PartResults, SuiteResults } from './result/suite-result.ts'

/**
 * A block of a document: `<!-- bench: SUITE PART [TABLE] -->` or `<!-- bench: view NAME -->` up to `<!-- /bench -->`, each mark on its own
 * line.
 */
const BLOCK = /^(<!-- bench: (\S+) (\S+)(?: (\S+))? -->)\n[^]*?^(<!-- \/bench -->)$/gm
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'results'])

/** A block of a document, with its file. */
export interface Block {
  readonly suite: string
  readonly part: string
  readonly table?: string
  readonly file: string
}

/** Replaces each block by the command, the measured figures and the machine. Blocks without results stay as they are. */
export function withFigures(text: string, suites: readonly SuiteResults[]): string {
  return text.replace(BLOCK, (whole, begin: string, suite: string, name: string, table: string | undefined, end: string) => {
    if (suite === 'view') {
      const shown = VIEWS.get(name)?.(suites)
      return shown === undefined ? whole : [begin, '', shown, '', end].join('\n')
    }
    const part = suites.find((one) => one.suite === suite)?.parts.find((one) => one.name === name)
    const markdown = part === undefined ? undefined : markdownOf(part, table)
    if (part === undefined || markdown === undefined) return whole
    return [begin, '', wrapped(sourceOf(suite, part)), '', wrappedText(markdown), '', end].join('\n')
  })
}

function markdownOf(part: PartResults, name: string | undefined): string | undefined {
  if (name === undefined) return partMarkdown(part)
  const table = part.tables.find((one) => one.name === name)
  return table === undefined ? undefined : tableMarkdown(table)
}

function sourceOf(suite: string, { name, depth, seconds, machine, servers, began, disturbed }: PartResults): string {
  const quick = depth === 'quick' ? ' --quick' : ''
  const doubtful = disturbed === undefined ? '' : `, DISTURBED (${disturbed})`
  return `\`npm run bench -- ${suite} --only ${name}${quick}\`, ${began.slice(0, 10)}, ${seconds} s a comparison${doubtful}; ${machineText(machine, servers)}:`
}

/** The text in lines of at most 120 characters. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,120})(?:\s|$)/g, '$1\n').trimEnd()
}

/** Rows of a table stay as long as they are. */
function wrappedText(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => (line.startsWith('|') ? line : wrapped(line)))
    .join('\n')
}

/** Writes the figures into every Markdown file below `root` that has their blocks. Returns the paths of the changed files. */
export function writeFigures(root: string, suites: readonly SuiteResults[]): string[] {
  return documentsBelow(root).flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const written = withFigures(text, suites)
    if (written === text) return []
    writeFileSync(file, written)
    return [relative(root, file)]
  })
}

/** The documents whose blocks do not show the given results. */
export function outdatedDocuments(root: string, suites: readonly SuiteResults[]): string[] {
  const differs = (text: string): boolean => withFigures(text, suites) !== text
  return documentsBelow(root).flatMap((file) => (differs(readFileSync(file, 'utf8')) ? [relative(root, file)] : []))
}

/** Every block in the documents below `root`, with its file. */
export function documentedBlocks(root: string): Block[] {
  return documentsBelow(root).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(BLOCK)].map(([, , suite = '', part = '', table]) => ({
      suite,
      part,
      ...(table === undefined ? {} : { table }),
      file: relative(root, file),
    })),
  )
}

function documentsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return documentsBelow(path)
    return entry.isFile() && entry.name.endsWith('.md') ? [path] : []
  })
}
