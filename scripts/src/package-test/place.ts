import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The most milliseconds that a command may take; npm may have to download a runtime. */
const COMMAND_MS = 600_000
/**
 * The most lines that an error shows from the end of a failed command's output, and the most characters of a line, because lines of
 * bundles are long.
 */
const SHOWN_LINES = 40
const SHOWN_WIDTH = 300
/** The npm settings of this repository, which users of the packages do not have. */
const NPMRC = join(import.meta.dirname, '..', '..', '..', '.npmrc')

/** A folder outside the repository. Programs that run in it find no file or setting of the repository. */
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
  const started = new Set<Command>()
  const begin = (words: readonly string[], folder: string, more: NodeJS.ProcessEnv = {}): Command => {
    const command = beginCommand(words, join(root, folder), { ...env, ...more })
    started.add(command)
    return command
  }
  const killAll = (): void => started.forEach(({ kill }) => kill())
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
    async run(program, args, folder = '.', withinMs = COMMAND_MS) {
      const command = begin([program, ...args], folder)
      let late: string | undefined
      const timer = setTimeout(() => {
        late = `not ended after ${withinMs / 1_000} s`
        command.kill()
      }, withinMs)
      const { code, printed, failure } = await command.ended.finally(() => {
        clearTimeout(timer)
        started.delete(command)
      })
      if (code === 0) return printed
      throw failure(late)
    },
    start(program, args, folder, more) {
      mkdirSync(join(root, folder), { recursive: true })
      const command = begin([program, ...args], folder, more)
      const ended = command.ended.then(({ failure }): never => {
        started.delete(command)
        throw failure()
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

/** A command under way, in a group of processes of its own. */
interface Command {
  /** Ends the group. */
  kill(): void
  /** Rejects if the command cannot be started. */
  readonly ended: Promise<Ended>
}

interface Ended {
  readonly code: number | null
  /** The standard output. */
  readonly printed: string
  /** An error with the end of all output. @param why default: the exit code */
  failure(why?: string): Error
}

function beginCommand(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Command {
  const [program = '', ...args] = words
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const [printed, all]: [string[], string[]] = [[], []]
  child.stdout.on('data', (data: Buffer) => printed.push(data.toString()))
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => all.push(data.toString()))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject).once('close', (code) =>
      resolve({
        code,
        printed: printed.join(''),
        failure: (why = `exit code ${code}`) => new Error(`${words.join(' ')}: ${why}\n${excerpt(all.join(''))}`),
      }),
    )
  })
  return {
    kill() {
      try {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The group has ended.
      }
    },
    ended,
  }
}

function excerpt(output: string): string {
  const lines = output.trimEnd().split('\n').slice(-SHOWN_LINES)
  return lines.map((line) => line.slice(0, SHOWN_WIDTH)).join('\n')
}

/**
 * The environment without the variables that `npm run` added, and without those of the repository's tests and npm settings. A user's
 * environment has none of them.
 */
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
