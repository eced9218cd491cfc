import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { command } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'

export const MAIN: string = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Env = Readonly<Record<string, string>>

/**
 * The environment of the tests without variables that begin with SLUICE_: those that set flags of the command, and those of the tests
 * themselves.
 */
export const SYSTEM: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')),
)

/** A service that runs until it is stopped. */
export interface Running {
  readonly url: string
  /** What it wrote, to stdout and then to stderr. */
  readonly output: () => string
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface RunningProcess extends Running {
  readonly pid: number
  /** Ends the reader of its stderr. */
  endReader(): void
}

/** Runs the command in this process until it ends. Starting a process would take longer than most commands do. */
export async function run(args: readonly string[], env: Env = {}): Promise<Ran> {
  const { io, written } = within(env)
  const code = await command(args, io)
  return { code, ...written }
}

/** Runs the built command in a process of its own until that ends. */
export async function runBuilt(args: readonly string[], env: Env = {}): Promise<Ran> {
  const child = start(args, env)
  const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)]
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout: stdout(), stderr: stderr() }
}

/** Runs `sluice serve` in this process, on a free port, until it is stopped. */
export async function serve(args: readonly string[], env: Env = {}): Promise<Running & { signal(signal: NodeJS.Signals): void }> {
  const { io, written, wrote, signal: send } = within({ PORT: '0', ...env })
  const gone = command(['serve', ...asText(args), ...args], io)
  const url = await new Promise<string>((resolve, reject) => {
    wrote(() => {
      const found = urlIn(written.stderr)
      if (found !== undefined) resolve(found)
    })
    void gone.then(() => reject(new Error(`serve ended: ${written.stderr}`)))
  })
  return {
    url,
    output: () => written.stdout + written.stderr,
    signal: send,
    stop: (signal = 'SIGTERM') => {
      send(signal)
      return gone
    },
  }
}

/** Runs the built `sluice serve` in a process of its own, on a free port, until it is stopped. */
export async function serveBuilt(args: readonly string[], env: Env = {}): Promise<RunningProcess> {
  const child = start(['serve', ...asText(args), ...args], { PORT: '0', ...env })
  const gone = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors] = [gather(child.stdout), gather(child.stderr)]
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', () => {
      const found = urlIn(errors())
      if (found !== undefined) resolve(found)
    })
    void gone.then(() => reject(new Error(`serve ended: ${errors()}`)))
  })
  return {
    url,
    output: () => output() + errors(),
    pid: child.pid as number,
    endReader: () => void child.stderr?.destroy(),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return gone
    },
  }
}

/** Log lines of a service are plain text, as on a terminal, unless the test sets the format. */
function asText(args: readonly string[]): readonly string[] {
  return args.includes('--log-format') ? [] : ['--log-format', 'text']
}

function urlIn(text: string): string | undefined {
  return /serving .* on (http:\/\/\S+:\d+)/.exec(text)?.[1]
}

interface Within {
  readonly io: Io
  readonly written: Omit<Ran, 'code'>
  /** Calls back after each write. */
  wrote(callback: () => void): void
  signal(signal: NodeJS.Signals): void
}

function within(env: Env): Within {
  const written = { stdout: '', stderr: '' }
  const hearing = new Set<readonly [signal: NodeJS.Signals, callback: () => void]>()
  let notify = (): void => {}
  const write = (to: keyof typeof written) => (text: string) => {
    written[to] += text
    notify()
  }
  return {
    written,
    wrote: (callback) => (notify = callback),
    signal: (sent) => [...hearing].forEach(([signal, callback]) => (signal === sent ? callback() : undefined)),
    io: {
      out: write('stdout'),
      err: write('stderr'),
      env: { ...SYSTEM, ...env },
      onSignal(...listener) {
        hearing.add(listener)
        return () => void hearing.delete(listener)
      },
    },
  }
}

function start(args: readonly string[], env: Env): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { env: { ...SYSTEM, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

function gather(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.on('data', (data: Buffer) => (text += data.toString()))
  return () => text
}
