import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningProcess as Running, serveBuilt as serve } from './command.ts'

const TOKEN = 'a-token-of-administration'

export interface Reloaded {
  readonly service: Running
  /** Writes the policy's file, and waits until the service has logged that it uses or refuses the policy. */
  write(text: string): Promise<void>
  put(text: string): Promise<number>
  /** What happened while `act` was done. */
  during(act: () => Promise<void>): Promise<Window>
  stop(): Promise<void>
}

export interface Window {
  /**
   * `longest`: for how many milliseconds a process's event loop was blocked at once. `work`: how many of these the process itself worked at
   * most.
   */
  readonly longest: number
  readonly work: number
  /** How many milliseconds a fixed piece of work took, as the median: this shows how fast the machine was meanwhile. */
  readonly piece: number
  readonly answers: number
  readonly undecided: number
  readonly failed: number
}

/** Starts a service, and calls it all the time over connections that stay open, over each in turn. */
export async function reloadedService(first: string, args: readonly string[], connections: number): Promise<Reloaded> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-reload-'))
  const [file, token, holds] = ['policy.yaml', 'token', 'holds'].map((name) => join(folder, name)) as [string, string, string]
  writeFileSync(file, first)
  writeFileSync(token, TOKEN)
  const probe = new URL('loop-holds.mjs', import.meta.url).href
  const service = await serve([file, '--admin-token-file', token, ...args], {
    NODE_OPTIONS: `--import=${probe}`,
    SLUICE_LOOP_HOLDS: holds,
  })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const counts = { answers: 0, undecided: 0, failed: 0 }
  const load = { sending: true }
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      const pending = request(`${service.url}/v1/check`, { method: 'POST', agent }, (answer) => {
        let text = ''
        answer.on('data', (data: Buffer) => (text += data.toString()))
        answer.on('end', () => {
          counts.answers += 1
          if (answer.statusCode !== 200) counts.failed += 1
          else if (text.includes('"outcome":"undecided"')) counts.undecided += 1
          resolve()
        })
      })
      pending.on('error', () => {
        counts.failed += 1
        resolve()
      })
      pending.end('{"method":"GET","path":"/a7/b7/x","headers":{"x-7":"a"},"ip":"192.0.2.1"}')
    })
  const loops = Array.from({ length: connections }, async () => {
    while (load.sending) await send()
  })
  const until = async (holdsNow: () => boolean): Promise<void> => {
    for (const started = performance.now(); !holdsNow();) {
      if (performance.now() - started > 120_000) throw new Error(`nothing was said within 120 s: ${service.output().slice(-500)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const sayings = (): number => service.output().match(/policy taken from|policy refused/g)?.length ?? 0
  return {
    service,
    async write(text) {
      const said = sayings()
      writeFileSync(file, text)
      await until(() => sayings() > said)
    },
    async put(text) {
      const answer = await fetch(`${service.url}/v1/policy`, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body: text })
      await answer.text()
      return answer.status
    },
    async during(act) {
      const [before, began] = [{ ...counts }, Date.now()]
      await act()
      // The probe writes every 50 ms.
      await new Promise((resolve) => setTimeout(resolve, 100))
      const ended = Date.now()
      const lines = readdirSync(folder)
        .filter((name) => name.startsWith('holds.'))
        .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
        .map((line) => line.split(' ').map(Number) as [number, number, number, number])
        .filter(([at]) => at > began + 50 && at <= ended)
      const pieces = lines.map(([, , , piece]) => piece).sort((a, b) => a - b)
      return {
        longest: Math.max(0, ...lines.map(([, longest]) => longest)),
        work: Math.max(0, ...lines.map(([, , work]) => work)),
        piece: pieces[pieces.length >>> 1] ?? 0,
        answers: counts.answers - before.answers,
        undecided: counts.undecided - before.undecided,
        failed: counts.failed - before.failed,
      }
    },
    async stop() {
      load.sending = false
      await Promise.all(loops)
      agent.destroy()
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
