import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPipeline } from '../src/pipeline.ts'
import { createResponseReader } from '../src/response-reader.ts'

const ANSWERS = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab\r\n\rHTTP/1.1 429 Too Many Requests\r\nX: y\r\ncontent-length:0\r\n\r\nHTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n',
)

describe('reading answers', () => {
  it.each([1, 2, 7, 40, ANSWERS.length])('in chunks of %i bytes', (length) => {
    const statuses: number[] = []
    const reader = createResponseReader((status) => statuses.push(status))
    for (let at = 0; at < ANSWERS.length; at += length) reader.push(ANSWERS.subarray(at, at + length))
    expect(statuses).toEqual([200, 429, 204])
  })

  it('refuses an answer that does not say how long it is', () => {
    const reader = createResponseReader(() => undefined)
    expect(() => reader.push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toThrow('no length')
  })
})

describe('a pipeline', () => {
  const serve = async (answer: (url: string) => number | undefined): Promise<number> => {
    const server = createServer((request, response) => {
      const status = answer(request.url ?? '')
      if (status === undefined) return void request.socket.destroy()
      response.statusCode = status
      response.end('done')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }
  const requests = ['/a', '/b'].map((url) => Buffer.from(`GET ${url} HTTP/1.1\r\nHost: localhost\r\n\r\n`))

  it('sends exactly as often as it was configured, in turn, round after round', async () => {
    const issued: string[] = []
    const port = await serve((url) => (issued.push(url), url === '/a' ? 200 : 429))
    const pipeline = await openPipeline({ port, connections: 3, depth: 4, requests })
    onTestFinished(() => pipeline.close())
    for (const count of [1, 7, 100]) {
      issued.length = 0
      const statuses = await pipeline.round(count)
      expect(issued).toHaveLength(count)
      expect((statuses.get(200) ?? 0) + (statuses.get(429) ?? 0)).toBe(count)
      expect(Math.abs((statuses.get(200) ?? 0) - (statuses.get(429) ?? 0))).toBeLessThanOrEqual(1)
    }
  })

  it('a connection that the server closed while idle fails the next round at once, and is opened again by revive', async () => {
    const connected: Socket[] = []
    const server = createServer((_request, response) => void response.end('done'))
    server.on('connection', (socket) => connected.push(socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const pipeline = await openPipeline({ port, connections: 2, depth: 1, requests })
    onTestFinished(() => pipeline.close())
    await pipeline.round(4)
    connected[0]?.destroy()
    // The client receives it in a turn of its own.
    let failed: Error | undefined
    while (failed === undefined)
      failed = await pipeline.round(2).then(
        () => undefined,
        (error: Error) => error,
      )
    expect(failed.message).toContain('the server closed a connection')
    await pipeline.revive()
    expect((await pipeline.round(6)).get(200)).toBe(6)
    expect(connected).toHaveLength(3)
  })

  it('rejects where the server closes a connection', async () => {
    const port = await serve(() => undefined)
    const pipeline = await openPipeline({ port, connections: 1, depth: 1, requests })
    onTestFinished(() => pipeline.close())
    await expect(pipeline.round(2)).rejects.toThrow('closed a connection')
  })
})
