import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Page } from './steps.ts'
import type { Workspace } from './workspace.ts'

/** The strict options of the repository, but unused declarations are allowed, because a document may only show them. */
const OPTIONS = {
  composite: false,
  declaration: false,
  isolatedDeclarations: false,
  // What projects of NestJS have.
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  noUnusedLocals: false,
  noUnusedParameters: false,
  rewriteRelativeImportExtensions: false,
  allowJs: true,
  checkJs: true,
  rootDir: '.',
  outDir: 'out',
}

/**
 * A declaration that the types of a login library add, such as those of Passport. Programs of documents need it, because they read `user`
 * of Express's request.
 */
export const LOGIN_TYPES = 'declare namespace Express { interface Request { user: { id: string } } }\n'

/** Checks the types of all programs and writes them as JavaScript to `out`. Returns the problems, as `DOCUMENT:LINE: TEXT`. */
export function compile(workspace: Workspace, programs: readonly Page[]): string[] {
  if (programs.length === 0) return []
  for (const { name, text } of programs) workspace.write(name, text)
  workspace.write('login.d.ts', LOGIN_TYPES)
  const files = ['login.d.ts', ...programs.map(({ name }) => name)]
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
