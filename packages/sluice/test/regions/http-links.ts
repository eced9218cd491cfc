import { once } from 'node:events'
import { createServer, request as send, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createRelay, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** The faults of a link. `lost`, `halfClosed` and `repeated` are fractions of the requests that pass from now on. */
export interface LinkFaults {
  /** Nothing passes: connections are refused. */
  isCut: boolean
  /** Each chunk of data is delayed by at most so many milliseconds, in both directions. */
  delayMs: number
  /** The request is executed, and its answer is lost with the connection. */
  lost: number
  /** Half of the answer passes. Then the relay ends its side of the connection, and still reads the other side. */
  halfClosed: number
  /** The request arrives once more after it was answered. Nobody reads the second answer. */
  repeated: number
}

/** A relay to a port of another region, through which one region sends its requests. */
export interface Link {
  readonly faults: LinkFaults
  /** How many requests were answered, how many needs of keys they reported, and how often each fault occurred. */
  readonly counts: { asked: number; needs: number; lost: number; halfClosed: number; repeated: number }
  /** Sends a request and returns its answer. */
  ask(body: unknown, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

export async function openLink(target: number, random: () => number): Promise<Link> {
  const faults: LinkFaults = { isCut: false, delayMs: 0, lost: 0, halfClosed: 0, repeated: 0 }
  const counts = { asked: 0, needs: 0, lost: 0, halfClosed: 0, repeated: 0 }
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket.setNoDelay(true))
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const delay = (): Promise<unknown> => pause(random() * faults.delayMs)
  const relay = createRelay({ allowHalfOpen: true }, (client) => {
    if (faults.isCut) return void client.resetAndDestroy()
    const upstream = keep(connect(target, '127.0.0.1'))
    const asked: Uint8Array[] = []
    const drawn = random()
    const kind = drawn < faults.lost ? 'lost' : drawn < faults.lost + faults.halfClosed ? 'halfClosed' : 'passes'
    const isRepeated = random() < faults.repeated
    keep(client)
    let last = Promise.resolve<unknown>(undefined)
    client.on('data', (chunk: Uint8Array) => {
      asked.push(chunk)
      last = last.then(delay).then(() => upstream.write(chunk))
    })
    upstream.on('data', (chunk: Uint8Array) => {
      if (faults.isCut || kind === 'lost') {
        if (kind === 'lost') counts.lost += 1
        return both()
      }
      last = last.then(delay).then(() => {
        if (kind === 'passes') return client.write(chunk)
        counts.halfClosed += 1
        return client.end(chunk.subarray(0, chunk.length / 2))
      })
    })
    const both = (): void => [client, upstream].forEach((socket) => socket.destroy())
    client.once('close', () => {
      upstream.destroy()
      if (!isRepeated || faults.isCut) return
      counts.repeated += 1
      const again = keep(connect(target, '127.0.0.1'))
      for (const chunk of asked) again.write(chunk)
      again.resume()
    })
    client.once('end', () => upstream.end())
    upstream.once('close', () => void last.then(() => client.end()))
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const { port } = relay.address() as AddressInfo
  return {
    faults,
    counts,
    async ask(body, signal) {
      const headers = { 'content-type': 'application/json', connection: 'close' }
      const request = send({ host: '127.0.0.1', port, method: 'POST', agent: false, headers, signal })
      // Also after the answer began.
      request.on('error', () => {})
      request.end(JSON.stringify(body))
      const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk as string
      if (response.statusCode !== 200) throw new Error(text)
      counts.asked += 1
      counts.needs += (body as { needs: unknown[] }).needs.length
      return JSON.parse(text) as unknown
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      relay.close()
      await once(relay, 'close')
    },
  }
}

/** Answers requests on a free port, one on each connection. */
export async function answering(
  answer: (request: unknown) => Promise<unknown>,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const body: string[] = []
    request.setEncoding('utf8').on('data', (chunk: string) => body.push(chunk))
    request.on('error', () => {})
    request.once('end', () => {
      const answered = Promise.resolve().then(() => answer(JSON.parse(body.join(''))))
      answered.then(
        (page) => response.end(JSON.stringify(page)),
        (error: unknown) => response.writeHead(503).end(String(error)),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
