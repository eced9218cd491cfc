import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import { domainToASCII } from 'node:url'
import { clientAddress, trustProxies } from 'sluice/policy'
import { wrongValue } from '../cli/failure.ts'
import { Refusal, sendError } from './answer.ts'
import { isLoopback } from './port.ts'
import { endpointOf, HEALTH, PROXY_PREFIXES } from './routes.ts'

/**
 * Proxies call these endpoints with their client's headers, so Host and Origin may be those of another site. Without a proxy's header they
 * are checked, because some requests of web pages differ from a program's only by Host.
 */
const FORWARDED: ReadonlySet<string> = new Set(PROXY_PREFIXES)
const OTHER_SITE = 'A browser sent this request for another site (Origin, Sec-Fetch-Site); expected a page of this service, or a program.'
/** A page needs a CORS preflight to send these to another site, and this service refuses every preflight. */
const BY_PROXY = /^x-(?:forwarded|original|envoy)-/

/**
 * Refuses browsers' requests for other sites: a web page could use up the limits of a local service, and with DNS rebinding read the
 * responses.
 * @param hosts undefined: requests may name any host
 */
export function guardSite(hosts: HostCheck | undefined, handle: RequestListener): RequestListener {
  return (request, response) => {
    const refusal = refusalOf(request, hosts)
    if (refusal === undefined) handle(request, response)
    else sendError(response, refusal)
  }
}

function refusalOf(request: IncomingMessage, hosts: HostCheck | undefined): Refusal | undefined {
  const { headers } = request
  const { host } = headers
  const foreignHost = hosts !== undefined && host !== undefined && !hosts(host)
  const foreignPage = isForeign(headers)
  if (!foreignHost && !foreignPage) return undefined
  const { path } = endpointOf(request.url ?? '/')
  if (HEALTH.has(path)) return undefined
  const forwarded = FORWARDED.has(path)
  if (forwarded && Object.keys(headers).some((name) => BY_PROXY.test(name))) return undefined
  if (foreignHost) return otherHost(host, forwarded ? ', or the headers of a proxy' : '')
  return path === '/' && isNavigation(request) ? undefined : new Refusal(403, OTHER_SITE)
}

function otherHost(host: string, more: string): Refusal {
  const shown = JSON.stringify(host.slice(0, 100))
  const own = `localhost, a loopback address, or a name of --allowed-host${more}`
  return new Refusal(403, `The host ${shown} is not this service's; expected ${own}.`)
}

/** Programs send neither Origin nor Sec-Fetch-Site. */
function isForeign({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  // Browsers compute Sec-Fetch-Site themselves. Origin is compared with Host, which a proxy may have changed.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const own = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
  return own === undefined || own.toLowerCase() !== host?.toLowerCase()
}

/** A link to this service's page is allowed, because the linking site cannot read the response. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

export type HostCheck = (host: string) => boolean

const MAX_KNOWN = 1_000
const NOBODY = trustProxies([])
/** A name, an IPv4 address, or an IPv6 address in brackets, with or without a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^:[\]/@\s]+))(?::\d{0,5})?$/i

/** Loopback hosts and the listed names. With DNS rebinding a browser sends the name of a foreign page, which is not listed. */
export function hostsAllowed(names: readonly string[]): HostCheck {
  const listed = new Set(names.map(canonical))
  const known = new Map<string, boolean>()
  return (host) => {
    const before = known.get(host)
    if (before !== undefined) return before
    const match = HOST.exec(host)
    const name = match === null ? '' : canonical(match[1] ?? match[2] ?? '')
    const allowed = isLoopback(name) || name.endsWith('.localhost') || (name !== '' && listed.has(name))
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(host, allowed)
    return allowed
  }
}

/** @throws CommandFailure exit 3 for a value that is no host */
export function readHosts(texts: readonly string[], called: string = '--allowed-host'): readonly string[] {
  return texts.map((text) => {
    const name = canonical(text.replace(/^\[([\da-f:.]+)\]$/i, '$1'))
    if (/^[a-z\d_]([\w.-]{0,252}[a-z\d_])?$/.test(name) || addressOf(name) !== undefined) return name
    const wanted = 'a name or an address without a port, such as limits.example or 2001:db8::1'
    throw wrongValue(called, text, wanted)
  })
}

/** Lower case, no trailing dot, Punycode for names, one spelling for each address. */
function canonical(host: string): string {
  const plain = host.replace(/\.$/, '').toLowerCase()
  const address = addressOf(plain)
  if (address !== undefined) return address
  return /^[!-~]*$/.test(plain) ? plain : domainToASCII(plain)
}

/** Undefined if the text is no address. */
export function addressOf(text: string): string | undefined {
  return clientAddress(text, {}, NOBODY)
}
