import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const MAIN: string = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command to its end. */
export async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = start(args, env)
  const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)]
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout: stdout(), stderr: stderr() }
}

export interface Running {
  readonly url: string
  readonly output: () => string
  readonly pid: number
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Runs `sluice serve` on a free port until stopped. */
export async function serve(args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const child = start(['serve', ...args], { PORT: '0', ...env })
  const gone = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors] = [gather(child.stdout), gather(child.stderr)]
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = /on (http:\S+)/.exec(output())?.[1]
      if (found !== undefined) resolve(found)
    })
    void gone.then(() => reject(new Error(`serve ended: ${errors()}`)))
  })
  return {
    url,
    output: () => output() + errors(),
    pid: child.pid as number,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return gone
    },
  }
}

function start(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

function gather(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.on('data', (data: Buffer) => (text += data.toString()))
  return () => text
}
