import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Page } from './steps.ts'
import type { Workspace } from './workspace.ts'

/** As strict as the repository, but for what is declared to be shown and not used. */
const OPTIONS = {
  composite: false,
  declaration: false,
  isolatedDeclarations: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  rewriteRelativeImportExtensions: false,
  allowJs: true,
  checkJs: true,
  rootDir: '.',
  outDir: 'out',
}

/** Checks the types of all programs and writes them as JavaScript to `out`; the problems, as `DOCUMENT:LINE: TEXT`. */
export function compile(workspace: Workspace, programs: readonly Page[]): string[] {
  if (programs.length === 0) return []
  for (const { name, text } of programs) workspace.write(name, text)
  const files = programs.map(({ name }) => name)
  workspace.write('tsconfig.json', JSON.stringify({ extends: '../tsconfig.base.json', compilerOptions: OPTIONS, files }))
  const compiler = join(workspace.root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', '.', '--pretty', 'false'], {
    cwd: workspace.fences,
    encoding: 'utf8',
  })
  if (status === 0) return []
  const lines = `${stdout}${stderr}`.trim().split('\n')
  const problems = lines.flatMap((line) => {
    const [, document, at, text] = /^(.+)\/L\d+\.[tj]s\((\d+),\d+\): (.+)$/.exec(line) ?? []
    return document === undefined ? [] : [`${document}:${at}: ${text}`]
  })
  return problems.length > 0 ? problems : [`the fences cannot be compiled:\n${lines.join('\n')}`]
}
