import { Agent, request } from 'node:http'
import { serveBuilt as serve } from './command.ts'

export interface Stopped {
  readonly answers: number
  /** Statuses other than 200. */
  readonly refused: number
  /**
   * How many requests ended without an answer, by the code of their error. ECONNREFUSED is expected: the port was closed. With any other
   * code the request was accepted, and then cut off.
   */
  readonly failures: Readonly<Record<string, number>>
  readonly code: number | null
}

/**
 * Starts a service, calls it without a pause over new and kept connections, and stops it meanwhile. Each caller goes on until the port is
 * closed.
 */
export async function stopUnderLoad(args: readonly string[], callers: number, signal: NodeJS.Signals = 'SIGTERM'): Promise<Stopped> {
  const service = await serve(args)
  const [kept, { port }] = [new Agent({ keepAlive: true, maxSockets: callers }), new URL(service.url)]
  let [answers, refused] = [0, 0]
  const failures: Record<string, number> = {}
  const send = (agent: Agent | false): Promise<boolean> =>
    new Promise((resolve) => {
      const pending = request({ host: '127.0.0.1', port, path: '/v1/check', method: 'POST', agent }, (answer) => {
        answers += 1
        if (answer.statusCode !== 200) refused += 1
        answer.resume().on('end', () => resolve(true))
      })
      pending.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
        const how = pending.reusedSocket ? `${code} on a kept connection` : code
        failures[how] = (failures[how] ?? 0) + 1
        // A caller whose connection was reset sends again. It ends only when the port is closed.
        resolve(code !== 'ECONNREFUSED')
      })
      pending.end('{"path":"/"}')
    })
  const loops = Array.from({ length: callers }, async (_, index) => {
    while (await send(index % 2 === 0 ? kept : false));
  })
  while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  const enough = answers + 500
  const isLoaded = (): boolean => answers >= enough
  while (!isLoaded()) await new Promise((resolve) => setTimeout(resolve, 10))
  const code = await service.stop(signal)
  await Promise.all(loops)
  kept.destroy()
  return { answers, refused, failures, code }
}
