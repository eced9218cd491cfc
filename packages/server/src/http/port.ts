import { type AddressInfo, connect, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { failed, usage, wrongValue } from '../cli/failure.ts'

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
 * The address to listen on: `--listen HOST:PORT`; otherwise the variable PORT on the loopback address; otherwise 127.0.0.1:8080.
 * @param called how the address was given, for messages: the flag or its variable
 * @param guarded whether there is an admin token; an address that other machines can reach requires one
 * @throws CommandFailure exit 3 for an invalid address, or for one that other machines can reach if there is no token
 */
export function listenOf(listen: string | undefined, called: string, port: string | undefined, guarded: boolean): ListenAt {
  const text = listen ?? `127.0.0.1:${port === undefined || port === '' ? '8080' : port}`
  const match = /^(?:\[([\da-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text)
  const [host, number] = [match?.[1] ?? match?.[2], Number(match?.[3])]
  if (host === undefined || number > 65_535) {
    const ports = 'a port from 0 to 65535'
    if (listen === undefined) throw wrongValue('PORT', port, ports)
    throw wrongValue(called, listen, `HOST:PORT with ${ports}`)
  }
  if (!guarded && !isLoopback(host))
    throw usage(`${called} ${text}: others can reach this address; give --admin-token-file, or listen on 127.0.0.1`)
  return { host, port: number }
}

/** The most connections that may wait to be accepted; the system may allow fewer. */
const BACKLOG = 4_096
/**
 * While connections keep arriving, closing waits for at most MAX_WAIT_MS milliseconds. But it checks at least MIN_CHECKS times whether more
 * have arrived, because a slow machine makes few checks in that time.
 */
const MAX_WAIT_MS = 500
const MIN_CHECKS = 10
/**
 * After the wait for arriving connections, the system's accept queue is emptied for at most this many milliseconds. Each turn of the event
 * loop accepts one connection.
 */
const MAX_EMPTYING_MS = 2_000

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
      reject(failed(`cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${why}`, { cause: error }))
    })
    server.listen({ port, host, backlog: BACKLOG }, () => resolve((server.address() as AddressInfo).port))
  })
}

/**
 * Closes a port without losing connections. When a port is simply closed, the system resets connections that the server has not accepted
 * yet.
 * @param arrived returns the number of connections and requests so far
 * @param turn resolves when connections and requests that were under way at its call have arrived
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

/** Waits for two turns of the event loop. The first may be the present turn. Before the second, the loop has polled for I/O. */
export async function twoTurns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * Shrinks the accept queue to one place, and fills that place with a connection of this process. Then no client is in the queue, and the
 * system admits none. If a client tries to connect, its system tries again and again, and is refused once the port is closed. The caller
 * must close the port in the same turn of the event loop, before the server accepts. Only Linux can change the queue of a listening server;
 * on other systems this does nothing.
 */
async function fillQueue(server: Server): Promise<void> {
  const at = server.address() as AddressInfo | null
  if (process.platform !== 'linux' || at === null || handleOf(server)?.listen?.(0) !== 0) return
  for (const until = performance.now() + MAX_EMPTYING_MS; performance.now() < until;) {
    const own = connect({ host: at.address, port: at.port })
    own.on('error', () => {})
    // Node.js connects at the end of this turn. Within one machine a connection succeeds at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const connected = handleOf(own)?.getpeername?.({}) === 0
    // The socket is already destroyed if this machine cannot reach the address.
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
