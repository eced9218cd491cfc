import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readBytes } from '../src/http/body.ts'
import { watchConnections } from '../src/http/connections.ts'
import { type RunningProcess as Running, serveBuilt as serve } from './command.ts'
import { exchange } from './raw.ts'

const POST = 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\n'
const HALF_SENT = `${POST}Content-Length: 50\r\n\r\n{"pat`

/** Sends bytes on a connection that stays open on this side. */
function begin(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.write(text, () => resolve(socket)))
    socket.once('error', reject)
  })
}

function isSocket(pid: number, descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:')
  } catch {
    // Closed since.
    return false
  }
}

describe('S1: a body that is aborted or never ends does not keep its socket', () => {
  let service: Running
  beforeAll(async () => {
    service = await serve(['--demo'])
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })
  const descriptors = (): number => readdirSync(`/proc/${service.pid}/fd`).filter((name) => isSocket(service.pid, name)).length

  it.skipIf(process.platform !== 'linux')('descriptors are back when 200 clients have left in the middle of a body', async () => {
    const before = descriptors()
    const sockets = await Promise.all(Array.from({ length: 200 }, () => begin(service.url, HALF_SENT)))
    await expect.poll(descriptors).toBeGreaterThanOrEqual(before + 200)
    // Half of the sockets close the connection properly. The other half resets it.
    sockets.forEach((socket, index) => (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()))
    await expect.poll(descriptors, { timeout: 10_000 }).toBeLessThanOrEqual(before)
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
  })

  it.each([
    ['a coding that nobody knows', `${POST}Transfer-Encoding: xchunked\r\n\r\n5\r\n`, 400],
    ['a size that is not one', `${POST}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`, 400],
    ['a size that is not one, after a good chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nZZ\r\n`, 400],
    ['an extension of 20 kB', `${POST}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(20_000)}\r\n`, 413],
    ['two lengths', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
  ])('%s is answered and closed by the service, though the client stays', async (_, text, status) => {
    const before = descriptors()
    const socket = await begin(service.url, text)
    let answer = ''
    socket.on('data', (data: Buffer) => (answer += data.toString()))
    await new Promise((resolve) => socket.once('end', resolve))
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*application/problem\\+json`, 's'))
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    await expect.poll(descriptors).toBeLessThanOrEqual(before)
    socket.destroy()
  })

  it('a broken body behind a good request is refused after its answer', async () => {
    const body = '{"path":"/"}'
    const good = `${POST}Content-Length: ${body.length}\r\n\r\n${body}`
    const answers = await exchange(service.url, `${good}${POST}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`)
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('a broken body that was answered already gets no second answer', async () => {
    const answers = await exchange(
      service.url,
      'POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
      'ZZ\r\n',
    )
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405'])
  })
})

describe('S1: a request that does not arrive in time', () => {
  async function listening(patience: number, handle: (response: ServerResponse, body: Promise<Uint8Array>) => void): Promise<string> {
    const server: Server = createServer({ requestTimeout: patience, headersTimeout: patience, connectionsCheckingInterval: 20 })
    watchConnections(server, (request, response) => handle(response, readBytes(request, 1_000_000)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('is answered 408 and closed; whoever waits for its body learns that it broke off', async () => {
    const ends: string[] = []
    const url = await listening(100, (_response, text) => void text.catch(({ message }: Error) => ends.push(message)))
    for (const text of ['POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n{', 'POST / HTTP/1.1\r\nHo']) {
      expect(await exchange(url, text)).toMatch(/^HTTP\/1\.1 408 .*application\/problem\+json/s)
    }
    await expect.poll(() => ends).toEqual(['The body was broken off.'])
  })

  it('waits for the answer to the request before it', async () => {
    let answer = (): void => {}
    const begun = new Promise<void>((resolve) => {
      answer = resolve
    })
    const url = await listening(
      100,
      (response, text) =>
        void Promise.all([text, begun]).then(
          () => response.end('first'),
          () => {},
        ),
    )
    const both = exchange(
      url,
      'GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /2 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    )
    setTimeout(answer, 300)
    expect((await both).match(/HTTP\/1\.1 \d+|first/g)).toEqual(['HTTP/1.1 200', 'first', 'HTTP/1.1 408'])
  })
})
