import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { childrenOf } from './children-of.ts'
import { type RunningProcess, serveBuilt as serve } from './command.ts'

/** These tests read processes and their file descriptors from /proc. On systems without /proc they are skipped. */
const redis = process.platform === 'linux' ? inject('engines').redis : undefined
const descriptors = ({ pid }: RunningProcess): number => readdirSync(`/proc/${pid}/fd`).length

interface Client {
  /** The status line of the answer, or how the connection ended without one. Undefined while neither has come. */
  end(): string | undefined
  close(): void
}

function client(url: string): Client {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let end: string | undefined
  socket.on('data', (data) => (end ??= data.toString().split('\r\n')[0]))
  socket.on('error', ({ message }) => (end ??= message))
  socket.on('close', () => (end ??= 'closed'))
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return { end: () => end, close: () => void socket.destroy() }
}

async function twoWorkers(): Promise<RunningProcess> {
  const service = await serve(['--demo', '--workers', '2', '--store', redis as string])
  onTestFinished(() => void service.stop('SIGKILL'))
  await ready(service)
  return service
}

async function ready({ url }: RunningProcess): Promise<void> {
  const both = { status: 'ready', workers: { serving: 2, wanted: 2 } }
  const readiness = async (): Promise<unknown> => (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).json()
  await expect.poll(readiness, { timeout: 20_000, interval: 50 }).toEqual(both)
}

describe.skipIf(redis === undefined)('a connection that was passed to a worker which dies', () => {
  it('is answered by another one, and leaves no descriptor behind', { timeout: 60_000 }, async () => {
    const service = await twoWorkers()
    const before = descriptors(service)
    for (let round = 0; round < 2; round += 1) {
      const [victim] = childrenOf(service.pid) as [number]
      process.kill(victim, 'SIGSTOP')
      const clients = Array.from({ length: 4 }, () => client(service.url))
      // One connection was passed to the stopped worker, which cannot answer it. The other worker answers the other three.
      await expect.poll(() => clients.filter(({ end }) => end() !== undefined).length, { timeout: 10_000 }).toBe(3)
      process.kill(victim, 'SIGKILL')
      const answers = (): unknown => clients.map(({ end }) => end())
      await expect.poll(answers, { timeout: 10_000 }).toEqual(clients.map(() => 'HTTP/1.1 200 OK'))
      for (const { close } of clients) close()
      await ready(service)
    }
    await expect.poll(() => descriptors(service), { timeout: 10_000 }).toBe(before)
  })

  it('is answered or closed when the worker dies at work, and leaves no descriptor behind', { timeout: 60_000 }, async () => {
    const service = await twoWorkers()
    const before = descriptors(service)
    for (let round = 0; round < 3; round += 1) {
      const clients: Client[] = []
      const more = setInterval(() => {
        for (let count = 0; count < 10; count += 1) clients.push(client(service.url))
      }, 1)
      await expect.poll(() => clients.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(200)
      process.kill(childrenOf(service.pid)[0] as number, 'SIGKILL')
      const seen = clients.length
      await expect.poll(() => clients.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(seen + 100)
      clearInterval(more)
      await expect.poll(() => clients.filter(({ end }) => end() === undefined).length, { timeout: 10_000 }).toBe(0)
      for (const { close } of clients) close()
      await ready(service)
    }
    await expect.poll(() => descriptors(service), { timeout: 10_000 }).toBe(before)
  })
})
