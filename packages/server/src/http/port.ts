import { type AddressInfo, connect, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { failed, usage, wrongValue } from '../cli/failure.ts'

export interface ListenAt {
  readonly host: string
  readonly port: number
}

export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|(?:0{0,4}:){2,7}0{0,3}1)$/i.test(host)
}

/**
 * @param guarded whether there is an admin token, which an address that other machines can reach requires
 * @throws CommandFailure exit 3 for an invalid address, or one that requires a token
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

/** The system may allow fewer. */
const BACKLOG = 4_096
/** Closing waits at most this long while connections arrive, but makes at least MIN_CHECKS checks, even on a slow machine. */
const MAX_WAIT_MS = 500
const MIN_CHECKS = 10
/** How long the accept queue may be emptied. Each turn of the event loop accepts one connection. */
const MAX_EMPTYING_MS = 2_000

/** Internal to Node.js, so they may change. */
interface Handle {
  listen?(backlog: number): number
  getpeername?(found: object): number
}

/** @throws CommandFailure exit 1 if it cannot listen */
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
 * Closes a port without losing connections: normally the system resets those that are not accepted yet.
 * @param arrived how many connections and requests have arrived so far; the port is closed when this number stops growing
 * @param turn resolves after a turn of the event loop, in which more of them may arrive
 */
export async function closePort(server: Server, arrived: () => number, turn: () => Promise<void>): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS
  for (let [before, checks] = [-1, 0]; before !== arrived() && (checks < MIN_CHECKS || performance.now() < until);) {
    before = arrived()
    checks += 1
    await turn()
  }
  await fillQueue(server)
  // An HTTP server's own close would cut off requests that it has not read yet.
  Server.prototype.close.call(server)
}

/** Between two turns the event loop polls for I/O. */
export async function twoTurns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * Shrinks the accept queue to one place, and takes it with a connection of this process. So no client is lost in the queue: its system
 * retries, and is refused once the port is closed. The caller must close the port in the same turn of the event loop. Only Linux can change
 * the queue.
 */
async function fillQueue(server: Server): Promise<void> {
  const at = server.address() as AddressInfo | null
  if (process.platform !== 'linux' || at === null || handleOf(server)?.listen?.(0) !== 0) return
  for (const until = performance.now() + MAX_EMPTYING_MS; performance.now() < until;) {
    const own = connect({ host: at.address, port: at.port })
    own.on('error', () => {})
    // Node.js connects at the end of this turn, and a connection within one machine succeeds at once.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const connected = handleOf(own)?.getpeername?.({}) === 0
    // A socket is already destroyed if the address cannot be reached.
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
