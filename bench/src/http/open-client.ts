import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Target } from '../open/open-loop.ts'
import { createResponseReader } from '../response-reader.ts'

export interface OpenClientOptions {
  readonly port: number
  /** Kept connections. Each carries one request at a time; further requests wait for a free one. */
  readonly connections: number
  /** The requests as bytes; they are sent in turn. */
  readonly requests: readonly Buffer[]
  /** The status that every answer must have. */
  readonly status: number
}

export interface OpenClient extends Target {
  close(): void
}

interface Waiting {
  readonly index: number
  readonly settle: (status: number) => void
  readonly fail: (error: Error) => void
}

/** A client for an open loop. It uses raw sockets, so that the client costs less than the server. */
export async function openClient({ port, connections, requests, status: expected }: OpenClientOptions): Promise<OpenClient> {
  const idle: Socket[] = []
  const underWay = new Map<Socket, Waiting>()
  const waiting: Waiting[] = []
  let closed = false

  const send = (socket: Socket, next: Waiting): void => {
    underWay.set(socket, next)
    socket.write(requests[next.index % requests.length] as Buffer)
  }
  const free = (socket: Socket): void => {
    const next = waiting.shift()
    if (next === undefined) idle.push(socket)
    else send(socket, next)
  }
  const reopen = (): void => {
    void open().catch(() => undefined)
  }
  const open = async (): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const lost = (error: Error): void => {
      underWay.get(socket)?.fail(error)
      underWay.delete(socket)
      if (idle.includes(socket)) idle.splice(idle.indexOf(socket), 1)
      socket.destroy()
      // A server may close a connection that was idle for long.
      if (!closed) reopen()
    }
    const reader = createResponseReader((status) => {
      const answered = underWay.get(socket)
      // A server may say why it is about to close a connection that was idle for long.
      if (answered === undefined) return
      underWay.delete(socket)
      answered.settle(status)
      free(socket)
    })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    await once(socket, 'connect')
    socket.once('close', () => lost(new Error('the server closed a connection')))
    socket.on('error', () => undefined)
    free(socket)
  }
  for (let count = 0; count < connections; count += 1) await open()
  return {
    invoke: (index) =>
      new Promise<number>((settle, fail) => {
        const next = { index, settle, fail }
        const socket = idle.pop()
        if (socket === undefined) waiting.push(next)
        else send(socket, next)
      }),
    passed(status) {
      if (status !== expected) throw new Error(`answered with ${String(status)} instead of ${expected}`)
      return true
    },
    close() {
      closed = true
      for (const socket of [...idle, ...underWay.keys()]) socket.destroy()
    },
  }
}
