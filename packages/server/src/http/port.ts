import { connect, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { failed, usage } from '../cli/failure.ts'

/** The address a service listens on. */
export interface ListenAt {
  readonly host: string
  readonly port: number
}

/** Whether only this machine can reach a listener on that host. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|(?:0{0,4}:){2,7}0{0,3}1)$/i.test(host)
}

/**
 * The address to listen on: `--listen HOST:PORT`, else PORT on the loopback address, else 127.0.0.1:8080.
 * @param guarded whether administration has a token; an address that other machines can reach requires one
 * @throws CommandFailure exit 3 for an invalid address, or for one that other machines can reach if there is no token
 */
export function listenOf(listen: string | undefined, port: string | undefined, guarded: boolean): ListenAt {
  const text = listen ?? `127.0.0.1:${port === undefined || port === '' ? '8080' : port}`
  const match = /^(?:\[([\da-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text)
  const [host, number] = [match?.[1] ?? match?.[2], Number(match?.[3])]
  if (host === undefined || number > 65_535) {
    const ports = 'a port from 0 to 65535'
    if (listen === undefined) throw usage(`PORT is ${JSON.stringify(port)}: expected ${ports}`)
    throw usage(`--listen is ${JSON.stringify(listen)}: expected HOST:PORT with ${ports}`)
  }
  if (!guarded && !isLoopback(host))
    throw usage(`--listen ${text}: others can reach this address; give --admin-token-file, or listen on 127.0.0.1`)
  return { host, port: number }
}

/** Connections that may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4_096
/** If connections keep arriving, the port closes anyway: after this long and at least this many checks, for slow machines. */
const MAX_WAIT_MS = 500
const MIN_CHECKS = 10
/** Milliseconds to empty the system's accept queue, which takes a turn of the loop for each connection in it. */
const MAX_FILL_MS = 2_000

/** Internal methods of a Node.js socket handle; they may change. */
interface Handle {
  listen?(backlog: number): number
  getpeername?(found: object): number
}

/** Listens and resolves with the port. @throws CommandFailure exit 1 if that is not possible */
export function openPort(server: Server, { host, port }: ListenAt): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use; set PORT or --listen to another' : error.message
      reject(failed(`cannot listen on ${host}:${port}: ${why}`, { cause: error }))
    })
    server.listen({ port, host, backlog: BACKLOG }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/**
 * Closes a port without resets: the system resets connections that it has accepted and the server has not.
 * @param arrived counts the connections and requests so far
 * @param turn resolves when those on their way have arrived
 */
export async function closePort(server: Server, arrived: () => number, turn: () => Promise<void>): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS
  for (let [before, checks] = [-1, 0]; before !== arrived() && (checks < MIN_CHECKS || performance.now() < until);) {
    before = arrived()
    checks += 1
    await turn()
  }
  await fillQueue(server)
  // Calls the net server's close, to stop listening only. An HTTP server's own close would cut off requests that it has not read yet.
  Server.prototype.close.call(server)
}

/** Waits for two turns of the loop. The first may be the present turn; between it and the second the loop polls for I/O. */
export async function twoTurns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * Fills the accept queue with a connection of its own, after shrinking it to one place. When that succeeds, nobody else is in the queue,
 * and the system admits nobody: a new client tries again, and is refused when the port is closed. The port must be closed in the same
 * turn, before the server accepts. Only Linux can change the queue of a listening server; on other systems this does nothing.
 */
async function fillQueue(server: Server): Promise<void> {
  const address = server.address()
  const handle = handleOf(server)
  if (process.platform !== 'linux' || handle?.listen?.(0) !== 0 || typeof address !== 'object' || address === null) return
  for (const until = performance.now() + MAX_FILL_MS; performance.now() < until;) {
    const own = connect({ host: address.address, port: address.port })
    own.on('error', () => {})
    // Node.js makes the system call at the end of this turn, and on one machine the connection succeeds at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const connected = handleOf(own)?.getpeername?.({}) === 0
    // This machine cannot reach the address.
    const unreachable = own.destroyed
    own.destroy()
    if (connected || unreachable) return
    await nextTurn()
  }
}

function handleOf(owner: Server | Socket): Handle | null | undefined {
  // oxlint-disable-next-line no-underscore-dangle -- what Node.js calls it
  return (owner as { _handle?: Handle | null })._handle
}
