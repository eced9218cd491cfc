import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'

/** A private server of a test or a benchmark, stopped by its own pid. */
export interface Engine {
  readonly url: string
  readonly pid: number
  /** Sends a signal to the server, such as SIGSTOP and SIGCONT in tests of faults. */
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Starts a server and waits until `ready` resolves. If the server does not start, the error contains its output. */
export async function startEngine(
  command: string,
  args: readonly string[],
  options: SpawnOptions & {
    readonly url: string
    readonly ready: () => Promise<boolean>
    readonly cleanUp?: () => void
    readonly stopSignal?: NodeJS.Signals
  },
): Promise<Engine> {
  const { url, ready, cleanUp, stopSignal = 'SIGTERM', ...spawnOptions } = options
  const child = spawn(command, [...args], { ...spawnOptions, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout?.on('data', (data: Buffer) => (output = (output + data.toString()).slice(-4_000)))
  child.stderr?.on('data', (data: Buffer) => (output = (output + data.toString()).slice(-4_000)))
  const stop = async (): Promise<void> => {
    process.off('exit', kill)
    await end(child, stopSignal)
    cleanUp?.()
  }
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  for (let attempt = 0; attempt < 400 && child.exitCode === null; attempt += 1) {
    if (await ready()) return { url, pid: child.pid as number, signal: (name) => void child.kill(name), stop }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await stop()
  throw new Error(`${command} did not come up:\n${output}`)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGCONT')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
  await gone
  clearTimeout(timer)
}
