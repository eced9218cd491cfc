import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The most milliseconds that a command may take; npm may have to download a runtime. */
const COMMAND_MS = 600_000
/** The most lines of a failed command's output that an error shows, from its end, and the most characters of a line: bundles have long ones. */
const SHOWN_LINES = 40
const SHOWN_WIDTH = 300
/** The repository's settings of npm, which hold for nobody else. */
const NPMRC = join(import.meta.dirname, '..', '..', '..', '.npmrc')

/** A folder outside the repository, whose programs know nothing of it. */
export interface Place {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** Writes a file, and returns its path. */
  write(name: string, text: string): string
  /**
   * Runs a command in the root, or in a folder below it. @returns its standard output
   * @throws Error with all output, if it fails or has not ended within `withinMs`
   */
  run(command: string, args: readonly string[], folder?: string, withinMs?: number): Promise<string>
  /** Starts a command that goes on until `remove`. @returns a promise that rejects with its output, if it ends before */
  start(command: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv): Promise<never>
  remove(): Promise<void>
}

/** @param registry the address from which npm installs */
export function createPlace(registry: string): Place {
  const root = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  const env = { ...environment(), npm_config_registry: registry, npm_config_yes: 'true', NO_COLOR: '1' }
  const started = new Set<ChildProcess>()
  const kill = (child: ChildProcess): void => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended.
    }
  }
  const killAll = (): void => started.forEach(kill)
  process.once('exit', killAll)
  return {
    root,
    env,
    write(name, text) {
      const file = join(root, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    run(command, args, folder = '.', withinMs = COMMAND_MS) {
      const child = spawn(command, [...args], { cwd: join(root, folder), env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
      started.add(child)
      const printed: string[] = []
      const all: string[] = []
      child.stdout.on('data', (data: Buffer) => printed.push(data.toString()))
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => all.push(data.toString()))
      let late = ''
      const timer = setTimeout(() => {
        late = `: not ended after ${withinMs / 1_000} s`
        kill(child)
      }, withinMs)
      return new Promise((resolve, reject) => {
        child.once('error', reject).once('close', (code) => {
          clearTimeout(timer)
          started.delete(child)
          if (code === 0) resolve(printed.join(''))
          else
            reject(
              new Error(`${command} ${args.join(' ')}${late || `: exit code ${code}`}
${excerpt(all.join(''))}`),
            )
        })
      })
    },
    start(command, args, folder, more) {
      mkdirSync(join(root, folder), { recursive: true })
      const options = { cwd: join(root, folder), env: { ...env, ...more }, detached: true } as const
      const child = spawn(command, [...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      started.add(child)
      const all: string[] = []
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => all.push(data.toString()))
      const ended = new Promise<never>((_, reject) => {
        child.once('error', reject).once('close', (code) => {
          started.delete(child)
          reject(new Error(`${command} ${args.join(' ')}: exit code ${code}\n${excerpt(all.join(''))}`))
        })
      })
      // Nobody waits for the end that `remove` brings.
      ended.catch(() => {})
      return ended
    },
    async remove() {
      killAll()
      process.off('exit', killAll)
      // A process that was just killed may still hold a file.
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function excerpt(output: string): string {
  const lines = output.trimEnd().split('\n').slice(-SHOWN_LINES)
  return lines.map((line) => line.slice(0, SHOWN_WIDTH)).join('\n')
}

/** The environment without what `npm run` and the repository added to it, its settings of npm among them: an empty folder of somebody else has neither. */
function environment(): NodeJS.ProcessEnv {
  const added =
    /^(?:npm_(?:package|lifecycle|command|execpath|node_execpath|config_(?:local_prefix|prefix|global_prefix))|INIT_CWD$|SLUICE_|NODE_(?!EXTRA))/i
  const settings = new Set(settingsOf(readFileSync(NPMRC, 'utf8')))
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !/node_modules\/\.bin|node-gyp-bin/.test(folder))
  const rest = Object.entries(process.env).filter(([name]) => !added.test(name) && !settings.has(name.toLowerCase()))
  return { ...Object.fromEntries(rest), PATH: path.join(':') }
}

/** @param npmrc the text of an .npmrc @returns the variables in which npm hands its settings on to what it runs */
export function settingsOf(npmrc: string): string[] {
  const names = npmrc.split('\n').map((line) => /^\s*([\w-]+)\s*=/.exec(line)?.[1])
  return names.flatMap((name) => (name === undefined ? [] : [`npm_config_${name.replaceAll('-', '_').toLowerCase()}`]))
}
