import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** What a run puts into documents: its suite, its parts' Markdown by name, and where it was measured. */
export interface Figures {
  readonly suite: string
  readonly documents: Readonly<Record<string, string>>
  readonly where: string
  /** Options of the run that change its figures, as they were typed; default none. */
  readonly options?: string
}

/** `<!-- bench: SUITE PART -->` and everything up to `<!-- /bench -->`, each on a line of its own. */
const BLOCK = /^(<!-- bench: (\S+) (\S+) -->)\n[^]*?^(<!-- \/bench -->)$/gm
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist'])

/** A document with the blocks of this run replaced: the command, the table, the machine. Other blocks stay as they are. */
export function withFigures(text: string, { suite, documents, where, options = '' }: Figures): string {
  return text.replace(BLOCK, (whole, begin: string, of: string, part: string, end: string) => {
    const markdown = of === suite ? documents[part] : undefined
    if (markdown === undefined) return whole
    const source = wrapped(`\`npm run bench -- ${suite} --only ${part}${options}\`, ${where}:`)
    return [begin, '', source, '', markdown, '', end].join('\n')
  })
}

/** Lines of at most 120 characters, cut between words. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,120})(?:\s|$)/g, '$1\n').trimEnd()
}

/** Writes the figures into every Markdown file below `root` that shows them; the paths of those that changed. */
export function writeFigures(root: string, figures: Figures): string[] {
  return documentsBelow(root).flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const written = withFigures(text, figures)
    if (written === text) return []
    writeFileSync(file, written)
    return [relative(root, file)]
  })
}

/** Every block below `root`, and its position. */
export function documentedParts(root: string): { readonly suite: string; readonly part: string; readonly file: string }[] {
  return documentsBelow(root).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(BLOCK)].map(([, , suite = '', part = '']) => ({ suite, part, file: relative(root, file) })),
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
