import { connect, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CommandFailure, EXIT } from './failure.ts'

/** Where a service listens. */
export interface ListenAt {
  readonly host: string
  readonly port: number
}

/** Connections that may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4_096
/** Connections that never pause are turned away in the end: after this long, and so many looks as a slow machine needs as well. */
const MAX_WAIT_MS = 500
const MIN_LOOKS = 10
/** The system's queue is then emptied, which takes a turn of the loop for each connection in it. */
const MAX_FILL_MS = 2_000

/** What Node.js calls on a socket of the system; it may change. */
interface Handle {
  listen?(backlog: number): number
  getpeername?(found: object): number
}

/**
 * Listens, and resolves with the port.
 * @throws CommandFailure exit 1 where that is not possible
 */
export function openPort(server: Server, { host, port }: ListenAt): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use; set PORT or --listen to another' : error.message
      reject(new CommandFailure(EXIT.failed, `cannot listen on ${host}:${port}: ${why}`, { cause: error }))
    })
    server.listen({ port, host, backlog: BACKLOG }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/**
 * Closes a port without a reset: the system resets connections that it has accepted and the server has not.
 * @param arrived counts what has come
 * @param turn resolves when what was on its way has come
 */
export async function closePort(server: Server, arrived: () => number, turn: () => Promise<void>): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS
  for (let [before, looks] = [-1, 0]; before !== arrived() && (looks < MIN_LOOKS || performance.now() < until);) {
    before = arrived()
    looks += 1
    await turn()
  }
  await fillQueue(server)
  // Of an HTTP server's own close only the end of listening is wanted: it would cut off requests that it has not read yet.
  Server.prototype.close.call(server)
}

/** The first may be of this turn; between it and the second the loop has looked for what arrived. */
export async function twoTurns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * Makes the system's queue as short as one connection, and takes this one place with a connection of its own. When that succeeds, nobody
 * else is in the queue, and the system lets nobody in: whoever comes tries again, and is refused when the port is closed. It must be closed in
 * the same turn, before the server accepts. Only Linux changes the queue of a server that listens; elsewhere nothing is done.
 */
async function fillQueue(server: Server): Promise<void> {
  const address = server.address()
  const handle = handleOf(server)
  if (process.platform !== 'linux' || handle?.listen?.(0) !== 0 || typeof address !== 'object' || address === null) return
  for (const until = performance.now() + MAX_FILL_MS; performance.now() < until;) {
    const own = connect({ host: address.address, port: address.port })
    own.on('error', () => {})
    // The call of the system is made at the end of this turn, and on one machine it connects at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const connected = handleOf(own)?.getpeername?.({}) === 0
    // An address that cannot be reached from here.
    const failed = own.destroyed
    own.destroy()
    if (connected || failed) return
    await nextTurn()
  }
}

function handleOf(owner: Server | Socket): Handle | null | undefined {
  // oxlint-disable-next-line no-underscore-dangle -- what Node.js calls it
  return (owner as { _handle?: Handle | null })._handle
}
