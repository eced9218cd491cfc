import { CommandFailure, EXIT } from './failure.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|(?:0{0,4}:){2,7}0{0,3}1)$/i

/** Whether only this machine can reach a listener on that host. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/**
 * The address to listen on: `--listen HOST:PORT`, else PORT on the loopback address, else 127.0.0.1:8080.
 * @param guarded whether administration has a token; an address that other machines can reach requires one
 * @throws CommandFailure exit 3 for an invalid address, or for one that other machines can reach if there is no token
 */
export function listenOf(listen: string | undefined, port: string | undefined, guarded: boolean): { host: string; port: number } {
  const text = listen ?? `127.0.0.1:${port === undefined || port === '' ? '8080' : port}`
  const match = /^(?:\[([\da-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text)
  const [host, number] = [match?.[1] ?? match?.[2], Number(match?.[3])]
  if (host === undefined || number > 65_535) {
    const source = listen === undefined ? `PORT is ${JSON.stringify(port)}` : `--listen is ${JSON.stringify(listen)}`
    throw new CommandFailure(
      EXIT.usage,
      `${source}: expected ${listen === undefined ? 'a port from 0 to 65535' : 'HOST:PORT with a port from 0 to 65535'}`,
    )
  }
  if (!guarded && !isLoopback(host))
    throw new CommandFailure(EXIT.usage, `--listen ${text}: others can reach this address; give --admin-token-file, or listen on 127.0.0.1`)
  return { host, port: number }
}
