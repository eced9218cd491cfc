import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { type Finding, findingOf } from './finding.ts'
import { filesBelow } from './source-files.ts'

const FOLDER = 'deploy'
const WORKFLOWS = '.github/workflows'
/**
 * Rules that are not applied. Three are about the order of keys: our files have common keys before rare ones. The last forbids `image`
 * next to `build`, but `docker compose build` tags the image with that name.
 */
const UNUSED_RULES = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order', 'no-build-and-image']
/** The highest exposure that systemd may compute for the unit, in tenths: 0 is sealed, 100 is open. */
const MAX_EXPOSURE = 15
const SYSTEMD = '/usr/bin/systemd-analyze'
const require = createRequire(import.meta.url)

/** Checks the files of `deploy` and the workflows by the linters and schemas of their formats. */
export function checkDeploy(root: string): Finding {
  const files = filesBelow(join(root, FOLDER)).map((file) => `${FOLDER}/${file}`)
  const problems = files.flatMap((file) => {
    if (/\/compose[^/]*\.yaml$/.test(file)) return composeProblems(root, file)
    if (file.endsWith('/Dockerfile')) return dockerfileProblems(root, file)
    if (file.endsWith('.service')) return unitProblems(root, file)
    if (file.endsWith('/kubernetes.yaml')) return kubernetesProblems(root, file)
    if (file.endsWith('/policy.yaml')) return policyProblems(root, file, readFileSync(join(root, file), 'utf8'))
    return /\.md$|\.dockerignore$/.test(file) ? [] : [`${file}: nothing checks this kind of file`]
  })
  const workflows = filesBelow(join(root, WORKFLOWS)).flatMap((file) => workflowProblems(root, `${WORKFLOWS}/${file}`))
  const skipped = existsSync(SYSTEMD) ? '' : '\nskipped: systemd-analyze is not installed, so no unit was checked'
  const { ok, text } = findingOf([...problems, ...workflows])
  return { ok, text: `${text}${skipped}`.trim() }
}

function composeProblems(root: string, file: string): string[] {
  const args = [file, '--max-warnings', '0', ...UNUSED_RULES.flatMap((rule) => ['--disable-rule', rule])]
  const { services } = parse(readFileSync(join(root, file), 'utf8')) as { services: Record<string, { volumes?: readonly string[] }> }
  const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] as string))
  const single = mounted.filter((from) => from.startsWith('.') && !statSync(join(root, FOLDER, from)).isDirectory())
  return [
    ...failureOf(root, file, process.execPath, ['node_modules/dclint/bin/dclint.cjs', ...args]),
    ...single.map((from) => `${file}: mounts the file ${from}: the container would not see it replaced, so mount its folder`),
  ]
}

function dockerfileProblems(root: string, file: string): string[] {
  interface Diagnostic {
    readonly message: string
    readonly range: { readonly start: { readonly line: number } }
  }
  const { validate } = require('dockerfile-utils') as { validate(text: string): readonly Diagnostic[] }
  const found = validate(readFileSync(join(root, file), 'utf8'))
  return found.map(({ message, range }) => `${file}:${range.start.line + 1}: ${message}`)
}

function workflowProblems(root: string, file: string): string[] {
  const { validateWorkflow } = require('@action-validator/core') as {
    validateWorkflow(text: string): { readonly errors: readonly unknown[] }
  }
  return validateWorkflow(readFileSync(join(root, file), 'utf8')).errors.map((error) => `${file}: ${JSON.stringify(error)}`)
}

/** systemd checks that the unit's program exists, so in the checked copy the program is Node, which does exist. */
function unitProblems(root: string, file: string): string[] {
  if (!existsSync(SYSTEMD)) return []
  const folder = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
  try {
    const unit = join(folder, 'sluice.service')
    writeFileSync(unit, readFileSync(join(root, file), 'utf8').replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    const exposure = ['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`, unit]
    // `verify` only warns of an unknown name and succeeds, so each warning counts as a problem.
    const { stderr } = spawnSync(SYSTEMD, ['verify', '--man=no', unit], { encoding: 'utf8' })
    const warnings = stderr.split('\n').filter((line) => line.includes('sluice.service'))
    return [...warnings.map((line) => line.replace(unit, file)), ...failureOf(root, file, SYSTEMD, exposure)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Checks the objects by their schemas, and by their types: only the compiler finds a field that does not exist. A policy in a ConfigMap is
 * checked like a file.
 */
function kubernetesProblems(root: string, file: string): string[] {
  interface Resource {
    readonly apiVersion: string
    readonly kind: string
    readonly data?: Readonly<Record<string, string>>
  }
  const resources = parseAllDocuments(readFileSync(join(root, file), 'utf8')).map((document) => document.toJS() as Resource)
  const problems = resources.flatMap((resource): string[] => {
    const { apiVersion, kind, data } = resource
    const models = require(`kubernetes-models/${apiVersion}`) as Record<string, new (data: unknown) => { validate(): void }>
    const Model = models[kind]
    if (Model === undefined) return [`${file}: ${apiVersion} has no ${kind}`]
    const policies = Object.entries(data ?? {}).flatMap(([name, text]) => policyProblems(root, `${file} (${name})`, text))
    try {
      new Model(resource).validate()
      return policies
    } catch (error) {
      return [`${file}: ${kind}: ${(error as Error).message}`, ...policies]
    }
  })
  const typed = resources.map(({ apiVersion, kind, ...rest }, index) => {
    const text = JSON.stringify({ apiVersion, kind, ...rest }, undefined, 2)
    return `import type { I${kind} as T${index} } from 'kubernetes-models/${apiVersion}'\nexport const r${index}: T${index} = ${text}\n`
  })
  // The folder is below the installed packages, so that the compiler finds their types.
  const folder = join(root, 'node_modules', '.cache', 'deploy')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'resources.ts'), typed.join('\n'))
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--pretty',
    'false',
  ]
  return [
    ...problems,
    ...failureOf(root, file, process.execPath, ['node_modules/typescript/bin/tsc', ...options, join(folder, 'resources.ts')]),
  ]
}

function policyProblems(root: string, file: string, text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-policy-'))
  try {
    const policy = join(folder, 'policy.yaml')
    writeFileSync(policy, text)
    return failureOf(root, file, process.execPath, ['packages/server/dist/main.js', 'check', policy])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a program printed, if it failed. */
function failureOf(root: string, file: string, program: string, args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(program, [...args], { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } })
  return status === 0 ? [] : [`${file}:\n${stdout}${stderr}`.trim()]
}
