import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { extraConnections } from '../src/http/connection-bound.ts'
import { type ConnectionOptions, type Connections, watchConnections } from '../src/http/connections.ts'
import { connectionBounds } from '../src/http/connection-bound.ts'
import { run } from './command.ts'
import { exchange } from './raw.ts'

const READ_MS = 300
const LARGE = Buffer.alloc(33_554_432, 0x61)

async function listening(handle: RequestListener, options: ConnectionOptions): Promise<{ url: string; connections: Connections }> {
  const server = createServer()
  const connections = watchConnections(server, handle, options)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections }
}

/** A connection of which nothing is read unless somebody does. */
async function opened(url: string, text = ''): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  if (text !== '') socket.write(text)
  return socket
}

const requestText = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const answerOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())))

describe('S1: the bound of connections', () => {
  it('is kept for connections above it that arrive in one turn, before those that gave way have reported their end', async () => {
    const extras = extraConnections(1, 2, () => false)
    const sockets = Array.from({ length: 50 }, () => new Socket())
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    for (const socket of sockets) extras.add(socket)
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual(sockets.map((_, index) => index < 48))
    await expect.poll(() => extras.sockets.size).toBe(2)
  })

  const bounds = { served: 5, extra: 3 }
  const hello: RequestListener = (_request, response) => void response.end('hello')

  it('leaves those below it alone, and answers above it for health alone', async () => {
    const { url, connections } = await listening(hello, { bounds })
    const kept = await Promise.all(Array.from({ length: 5 }, () => opened(url)))
    for (const path of ['/livez', '/readyz', '//livez?x'])
      expect(await exchange(url, requestText(path))).toMatch(/^HTTP\/1\.1 200 .*close.*hello/is)
    for (const path of ['/', '/metrics', '/livez/x', '/v1/auth/x/../../../livez']) {
      const answer = await exchange(url, requestText(path))
      expect(answer).toMatch(/^HTTP\/1\.1 503 (?=.*connection: close)(?=.*retry-after: 1).*All 5 connections/is)
      expect(answer).not.toContain('hello')
    }
    expect(connections.turnedAway).toBe(7)
    for (const socket of kept) {
      socket.write(requestText('/'))
      expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 200 .*keep-alive/is)
    }
    kept[0]?.destroy()
    await expect.poll(() => connections.open).toBe(4)
    const next = await opened(url, requestText('/'))
    expect(await answerOf(next)).toMatch(/^HTTP\/1\.1 200 .*keep-alive/is)
  })

  it('answers health though the room above it is full of connections that say nothing, and closes those', async () => {
    const { url, connections } = await listening(hello, { bounds })
    await Promise.all(Array.from({ length: 60 }, () => opened(url)))
    expect(await exchange(url, requestText('/livez'))).toMatch(/^HTTP\/1\.1 200 /)
    expect(connections.open).toBeLessThanOrEqual(8)
    // The five connections that were served stay open. The others are closed after a moment, whatever they send.
    await expect.poll(() => connections.open, { timeout: 10_000 }).toBe(5)
  })

  it.each([
    [undefined, 1_048_576, 10_000, 256],
    [undefined, Infinity, 10_000, 256],
    [undefined, 20_000, 10_000, 256],
    [undefined, 4_096, 3_776, 256],
    [undefined, 256, 160, 32],
    [undefined, 64, 1, 16],
    [50_000, 1_048_576, 50_000, 256],
    [50_000, Infinity, 50_000, 256],
    [7, 256, 7, 32],
  ])('configured for %s with %s files is %i and %i for health', (setting, files, served, extra) => {
    const found = connectionBounds(setting, files)
    expect(found).toMatchObject({ served, extra })
    expect(found.warning !== undefined).toBe(served < (setting ?? 10_000))
    // What the process itself has open has room as well.
    if (files > 128) expect(served + extra + 64).toBeLessThanOrEqual(files)
  })

  it.each([
    ['0', 'expected a whole number from 1 to 1000000'],
    ['many', 'expected a whole number from 1 to 1000000'],
    ['1000000', 'expected at most '],
  ])('--max-connections %s is refused in one line', async (text, wanted) => {
    const ran = await run(['serve', '--demo', '--max-connections', text], { PORT: '0' })
    // A system that allows more than a million open files would start the service in the last case.
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).toMatch(new RegExp(`^sluice: --max-connections is .*${wanted}[^\n]*\n$`))
  })
})

describe('S1: who does not read an answer', () => {
  it('is cut off, also behind another answer, and gives its connection back', async () => {
    const { url, connections } = await listening((_request, response) => void response.end(LARGE), { readMs: READ_MS })
    const sockets = await Promise.all(Array.from({ length: 4 }, () => opened(url, requestText('/').repeat(3))))
    await expect.poll(() => connections.open).toBe(4)
    await expect.poll(() => connections.open, { timeout: 10_000 }).toBe(0)
    for (const socket of sockets) expect(socket.bytesRead).toBeLessThan(LARGE.length)
  })

  it('is not who reads it, nor who waits for its beginning', async () => {
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const late = await listening((_request, response) => void begun.then(() => response.end('late')), { readMs: READ_MS })
    const answer = fetch(late.url)
    setTimeout(begin, 2 * READ_MS)
    expect(await (await answer).text()).toBe('late')
    const { url } = await listening((_request, response) => void response.end(LARGE), {})
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(LARGE.length)
  })

  it('is cut off in a stream too, which otherwise may last', async () => {
    const { url, connections } = await listening(
      (request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.write('data: first\n\n')
        if (request.url === '/flood') response.write(LARGE)
        if (request.url === '/live') {
          const timer = setInterval(() => response.write('data: next\n\n'), 20)
          response.on('close', () => clearInterval(timer))
        }
      },
      { readMs: READ_MS },
    )
    const [quiet, live] = await Promise.all(['/quiet', '/live'].map((path) => opened(url, requestText(path))))
    live?.resume()
    const flood = await opened(url, requestText('/flood'))
    await expect.poll(() => connections.open).toBe(3)
    await expect.poll(() => connections.open, { timeout: 10_000 }).toBe(2)
    expect(flood.bytesRead).toBeLessThan(LARGE.length)
    await new Promise((resolve) => setTimeout(resolve, 3 * READ_MS))
    expect([connections.open, quiet?.readyState, live?.readyState]).toEqual([2, 'open', 'open'])
  })
})
