import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { PartOptions } from '../part.ts'

const PROBE = new URL('cpu-probe.js', import.meta.url).href
/** Milliseconds a server has to say where it listens. */
const START_MS = 10_000
const ADDRESS = /http:\/\/127\.0\.0\.1:(\d+)/

/** A server in a process of its own. */
export interface ServerProcess {
  readonly port: number
  /** Processor time of that process so far, in microseconds, its collector's threads included. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

/** Starts a program that prints its address; rejects where it ends or stays silent instead. */
export async function startServer(script: string, args: readonly string[], { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', PROBE, script, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const stdout = child.stdout as Readable
  const closed = once(child, 'close')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill()
    await closed
  }
  atEnd(stop)
  const failed = closed.then(([code, signal]) => {
    throw new Error(`${script} ended with ${String(signal ?? code)} before it was ordered to`)
  })
  // Only whoever waits for it is notified.
  failed.catch(() => undefined)
  const late = AbortSignal.timeout(START_MS)
  const address = (async () => {
    for await (const line of createInterface({ input: stdout, signal: late })) {
      const port = ADDRESS.exec(line)?.[1]
      if (port !== undefined) return Number(port)
    }
    throw new Error(`${script} did not say within ${START_MS} ms where it listens`)
  })()
  const port = await Promise.race([address, failed])
  stdout.resume()
  return {
    port,
    async cpuMicros() {
      const answer = once(child, 'message')
      child.send('cpu')
      const [{ user, system }] = (await Promise.race([answer, failed])) as [NodeJS.CpuUsage]
      return user + system
    },
    stop,
  }
}
