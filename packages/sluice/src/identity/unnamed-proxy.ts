import { callObserver } from '../errors/call-observer.ts'
import { consoleWarning, firstOnly, type OnWarning } from '../errors/console-warning.ts'
import { parseAddress } from './address.ts'
import { clientAddress, isTrustedPeer } from './client-address.ts'
import type { Headers } from './headers.ts'
import { isPrivate, type TrustedProxies, trustProxies } from './trusted-proxies.ts'

const FORWARDING = ['x-forwarded-for', 'forwarded', 'x-real-ip']

/** Warns once if an untrusted proxy seems to forward requests. */
export type ProxyWatch = (peer: string | null | undefined, headers: Headers) => void

const consoleOnce: OnWarning = firstOnly(consoleWarning)

/**
 * All clients behind a proxy that is not named count as one. Undefined for an empty list, which says that there is no proxy. If proxies are
 * named, only private addresses are watched: any client on the internet may send the header.
 * @param trust undefined if the option is absent
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
    // In an internal network, a private address is a client's.
    const from = isTrustedPeer(peer, trustProxies(['loopback'])) ? 'this machine' : isNear ? 'a private address' : 'a public address'
    const end =
      trust === undefined ? 'If clients connect directly, an empty trustedProxies ends this warning.' : 'Otherwise ignore this warning.'
    callObserver(
      onWarning,
      `${where}: a request from ${from} has the header ${name}, but trustedProxies does not name this address, so the header is not believed. If it is a proxy, all its clients count as one: name it in trustedProxies. ${end}`,
    )
  }
}
