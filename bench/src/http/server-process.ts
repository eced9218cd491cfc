import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { treeProcessor } from '../machine/tree-processor.ts'
import type { PartOptions } from '../part.ts'

const PROBE = new URL('cpu-probe.js', import.meta.url).href
/** Milliseconds in which a server must print its address. */
const START_MS = 30_000
const ADDRESS = /http:\/\/127\.0\.0\.1:(\d+)/

/** A server under measurement, of one process or several. */
export interface MeasuredServer {
  readonly port: number
  /** Processor time so far in microseconds, of all threads, with those of the garbage collector. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

/** A server in a process of its own. */
export interface ServerProcess extends MeasuredServer {
  readonly pid: number
}

export interface ServerOptions extends Pick<PartOptions, 'atEnd'> {
  /**
   * `one` (default): the processor time is that of the server's process alone. `several`: it includes the processes that the server starts,
   * as far as the system reports it.
   */
  readonly processes?: 'one' | 'several'
}

/** Starts a program that prints its address; rejects if it ends or prints no address in time. */
export async function startServer(
  script: string,
  args: readonly string[],
  { atEnd, processes = 'one' }: ServerOptions,
): Promise<ServerProcess> {
  // A server of several processes gets no probe. Its workers would load the probe, too, and answer the messages of their parent with it.
  const probe = processes === 'one' ? ['--import', PROBE] : []
  const child = spawn(process.execPath, [...probe, script, ...args], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const output = new PassThrough()
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(output, { end: false })
  let last = ''
  const closed = once(child, 'close')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill()
    await closed
  }
  atEnd(stop)
  const failed = closed.then(([code, signal]) => {
    throw new Error(`${script} ended with ${String(signal ?? code)} before it was ordered to: ${last}`)
  })
  // If no caller waits for `failed`, its rejection must not end this process.
  failed.catch(() => undefined)
  const late = AbortSignal.timeout(START_MS)
  const address = (async () => {
    for await (const line of createInterface({ input: output, signal: late })) {
      last = line
      const port = ADDRESS.exec(line)?.[1]
      if (port !== undefined) return Number(port)
    }
    throw new Error(`${script} did not say within ${START_MS} ms where it listens`)
  })()
  const port = await Promise.race([address, failed])
  output.resume()
  const tree = processes === 'one' ? undefined : treeProcessor(child.pid as number)
  return {
    port,
    pid: child.pid as number,
    async cpuMicros() {
      if (tree !== undefined) return tree()
      const answer = once(child, 'message')
      child.send('cpu')
      const [{ user, system }] = (await Promise.race([answer, failed])) as [NodeJS.CpuUsage]
      return user + system
    },
    stop,
  }
}
