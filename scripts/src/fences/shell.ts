import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from './workspace.ts'

/** The most milliseconds that one step may take. */
const STEP_MS = 120_000

export interface Ran {
  /** What the step printed. Its processes in the background may print until all steps have ended. */
  readonly output: string
  /** The exit codes other than 0, with the lines of their commands, in order. */
  readonly failures: readonly { readonly code: number; readonly line: number }[]
  /** False for a step that did not end, and for all steps after it. */
  readonly ended: boolean
}

/**
 * One shell runs all steps, so that a step can use what an earlier one made (a folder, a variable, a server). It reports the number of each
 * step on file descriptor 3.
 */
const DRIVER = `set -E
for SLUICE_STEP in $(seq 0 $((STEPS - 1))); do
  echo "$SLUICE_STEP" >&3
  trap 'printf "%s %s\\n" "$?" "$LINENO" >>"$RUN/$SLUICE_STEP.failures"' ERR
  source "$RUN/$SLUICE_STEP.sh" >"$RUN/$SLUICE_STEP.out" 2>&1 </dev/null 3>&-
  : >"$RUN/$SLUICE_STEP.ended"
done
trap - ERR
trap '' TERM
kill -TERM 0
wait
`

/**
 * The environment without SLUICE_*: a reader of the documents has none of those that the repository's tests set, and the command would
 * warn of them.
 */
function withoutVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SLUICE_')))
}

/** Runs scripts one after another in one bash, in the workspace's root. Processes that they started are ended by their process group. */
export async function runSteps(workspace: Workspace, name: string, scripts: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran[]> {
  const run = join(workspace.fences, 'run', name)
  workspace.write(join('run', name, 'driver.sh'), DRIVER)
  // The last command `:` succeeds. Otherwise `source` would fail with the last command of the script, and count as a second failure.
  scripts.forEach((script, index) => workspace.write(join('run', name, `${index}.sh`), `${script}\n:\n`))
  const child = spawn('bash', [join(run, 'driver.sh')], {
    cwd: workspace.root,
    env: {
      ...withoutVariables(process.env),
      ...env,
      PATH: `${join(workspace.fences, 'bin')}:${process.env['PATH'] ?? ''}`,
      REPOSITORY: workspace.root,
      FENCES: workspace.fences,
      CURL: curl(),
      RUN: run,
      STEPS: String(scripts.length),
      NO_COLOR: '1',
    },
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process group is empty: all processes have ended.
    }
  }
  process.once('exit', end)
  let timer = setTimeout(end, STEP_MS)
  child.stdio[3]?.on('data', () => {
    clearTimeout(timer)
    timer = setTimeout(end, STEP_MS)
  })
  await new Promise<void>((resolve, reject) => child.once('error', reject).once('exit', () => resolve()))
  clearTimeout(timer)
  end()
  process.off('exit', end)
  return scripts.map((_, index) => ({
    output: textOf(join(run, `${index}.out`)),
    failures: failuresOf(textOf(join(run, `${index}.failures`))),
    ended: existsSync(join(run, `${index}.ended`)),
  }))
}

/** Reads the failures of a step. A failed command in a loop is reported twice, by itself and by the loop, so equal entries count once. */
function failuresOf(text: string): { code: number; line: number }[] {
  return [...new Set(text.split('\n').filter((line) => line !== ''))].map((entry) => {
    const [code = 0, line = 0] = entry.split(' ').map(Number)
    return { code, line }
  })
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function curl(): string {
  const folders = (process.env['PATH'] ?? '').split(':')
  return folders.map((folder) => join(folder, 'curl')).find((file) => existsSync(file)) ?? 'curl'
}
