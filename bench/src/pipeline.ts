import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createResponseReader } from './response-reader.ts'

export interface PipelineOptions {
  readonly port: number
  readonly connections: number
  /** Requests in flight on each connection. */
  readonly depth: number
  /** The requests as bytes; they are sent in turn. */
  readonly requests: readonly Buffer[]
}

/** Kept connections to a server on the loopback address, called in rounds. */
export interface Pipeline {
  /** Opens connections again that the server closed since the last round because they were idle. Called before the measurement. */
  revive(): Promise<void>
  /** Sends this many requests. Resolves with the number of answers by status, and rejects if a connection is lost. */
  round(count: number): Promise<ReadonlyMap<number, number>>
  close(): void
}

/** Opens raw sockets instead of an HTTP client. Sending must cost less than answering; otherwise the client would be measured. */
export async function openPipeline({ port, connections, depth, requests }: PipelineOptions): Promise<Pipeline> {
  const sockets = new Set<Socket>()
  let statuses = new Map<number, number>()
  const take = inTurn(requests)
  let [unsent, unanswered] = [0, 0]
  let [finish, fail]: [() => void, (error: Error) => void] = [() => undefined, () => undefined]

  const send = (socket: Socket, count: number): void => {
    const many = Math.min(count, unsent)
    unsent -= many
    if (many > 0) socket.write(take(many))
  }
  const open = async (): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let answered = 0
    const reader = createResponseReader((status) => {
      answered += 1
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    socket.on('data', (chunk: Buffer) => {
      answered = 0
      try {
        reader.push(chunk)
      } catch (error) {
        return fail(error as Error)
      }
      unanswered -= answered
      if (unanswered === 0) finish()
      else send(socket, answered)
    })
    socket.on('error', (error) => fail(error))
    socket.on('close', () => {
      sockets.delete(socket)
      fail(new Error('the server closed a connection'))
    })
    await once(socket, 'connect')
    sockets.add(socket)
  }
  const revive = async (): Promise<void> => {
    while (sockets.size < connections) await open()
  }
  await revive()
  return {
    revive,
    round(count) {
      // Requests on a closed connection would never be answered.
      if (sockets.size < connections) return Promise.reject(new Error('the server closed a connection before the round'))
      statuses = new Map()
      ;[unsent, unanswered] = [count, count]
      return new Promise((resolve, reject) => {
        finish = () => resolve(statuses)
        fail = reject
        for (const socket of sockets) send(socket, depth)
      })
    },
    close() {
      fail = () => undefined
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Makes a function that returns the bytes of the next requests. After the last request comes the first again. */
function inTurn(requests: readonly Buffer[]): (count: number) => Buffer {
  let next = 0
  return (count) => {
    const batch: Buffer[] = []
    for (let index = 0; index < count; index += 1) {
      batch.push(requests[next] as Buffer)
      next = (next + 1) % requests.length
    }
    return batch.length === 1 ? (batch[0] as Buffer) : Buffer.concat(batch)
  }
}
