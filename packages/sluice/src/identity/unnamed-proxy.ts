import { consoleWarning, firstOnly, type OnWarning } from '../errors/console-warning.ts'
import { parseAddress } from './address.ts'
import { clientAddress, isTrustedPeer } from './client-address.ts'
import type { Headers } from './headers.ts'
import { isPrivate, type TrustedProxies, trustProxies } from './trusted-proxies.ts'

/** Headers in which proxies report the client. */
const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip']

/** Looks at a request. Warns at the first request that a proxy seems to have forwarded, if that proxy's header is not believed. */
export type ProxyWatch = (peer: string | null | undefined, headers: Headers) => void

/** Warns on the console, once in a process. */
const consoleOnce: OnWarning = firstOnly(consoleWarning)

/**
 * Makes a function that watches for a proxy that `trustedProxies` does not name. All clients behind such a proxy count as one. Undefined if
 * the option is an empty list, which says that there is no proxy. If the list names other proxies, only requests from private addresses are
 * watched, because any client on the internet may send the header.
 * @param trust undefined if the option is absent
 * @param onWarning called once; default: a warning on the console, once in a process
 */
export function watchProxies(where: string, trust: TrustedProxies | undefined, onWarning: OnWarning = consoleOnce): ProxyWatch | undefined {
  if (trust?.isEmpty === true) return undefined
  const names = trust === undefined ? FORWARDING : [trust.source]
  let watching = true
  return (peer, headers) => {
    if (!watching || peer === undefined || peer === null) return
    const name = names.find((one) => headers[one] !== undefined && headers[one] !== null)
    if (name === undefined || (trust !== undefined && isTrustedPeer(peer, trust))) return
    const text = clientAddress(peer, {}, trustProxies([]))
    const address = text === undefined ? undefined : parseAddress(text)
    if (address === undefined) return
    const isNear = isPrivate(address)
    if (trust !== undefined && !isNear) return
    watching = false
    // The warning does not contain the address itself, because in an internal network private addresses are those of clients.
    const from = isTrustedPeer(peer, trustProxies(['loopback'])) ? 'this machine' : isNear ? 'a private address' : 'a public address'
    const end =
      trust === undefined ? 'If clients connect directly, an empty trustedProxies ends this warning.' : 'Otherwise ignore this warning.'
    warnSafely(
      onWarning,
      `${where}: a request from ${from} has the header ${name}, but trustedProxies does not name this address, so the header is not believed. If it is a proxy, all its clients count as one: name it in trustedProxies. ${end}`,
    )
  }
}

/** Passes the message to `onWarning`. If that function throws, the error is dropped, so that no decision changes. */
function warnSafely(onWarning: OnWarning, message: string): void {
  try {
    onWarning(message)
  } catch {}
}
