import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import { domainToASCII } from 'node:url'
import { clientAddress, normalizePath, trustProxies } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import { Refusal, sendError } from './answer.ts'

/** Health endpoints, which are not guarded: probes may name any host. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz'])
/**
 * The endpoints that proxies call with the headers of their clients: Host, Origin and Sec-Fetch-Site then concern the protected site.
 * Without a proxy header they concern this service. For a plain http name other than localhost a browser sends no Sec-Fetch-Site, and
 * with GET no Origin. On loopback, therefore, only the Host shows that a page made the request.
 */
const FORWARDED = /^\/v1\/(?:auth|decision)(?:\/|$)/
/** Headers that proxies add. A page can send them to another site only after a CORS preflight, and this service allows none. */
const BY_PROXY = /^x-(?:forwarded|original|envoy)-/

/**
 * Refuses requests that a browser makes for another site. A web page could charge keys of a service that only this machine reaches. With
 * DNS rebinding it could also read the responses.
 * @param hosts the hosts that requests may name; undefined: any
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
  // Most requests come from programs and name a host of ours.
  if (!foreignHost && !foreignPage) return undefined
  const path = normalizePath(request.url ?? '/')
  if (PROBES.has(path)) return undefined
  if (FORWARDED.test(path)) {
    if (Object.keys(headers).some((name) => BY_PROXY.test(name))) return undefined
    return foreignHost ? otherHost(host, ', or the headers of a proxy') : otherSite()
  }
  if (foreignHost) return otherHost(host)
  return path === '/' && isNavigation(request) ? undefined : otherSite()
}

function otherHost(host: string, more = ''): Refusal {
  const shown = JSON.stringify(host.slice(0, 100))
  const own = `localhost, a loopback address, or a name of --allowed-host${more}`
  return new Refusal(403, `The host ${shown} is not this service's; expected ${own}.`)
}

function otherSite(): Refusal {
  return new Refusal(
    403,
    'A browser sent this request for another site (Origin, Sec-Fetch-Site); expected a page of this service, or a program.',
  )
}

/** Whether a page of another origin made the request. Programs send neither Origin nor Sec-Fetch-Site. */
function isForeign({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  // Sec-Fetch-Site is authoritative: the browser compares the port and the name that it used, whatever a proxy has made of Host.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const own = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
  return own === undefined || own.toLowerCase() !== host?.toLowerCase()
}

/** Whether the user follows a link to the page; another site cannot read the response. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

export type HostCheck = (host: string) => boolean

/** Verdicts that are cached: nearly all requests have the same header. */
const MAX_KNOWN = 1_000
const NOBODY = trustProxies([])
/** A name or an IPv4 address, or an IPv6 address in brackets, each with or without a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^:[\]/@\s]+))(?::\d{0,5})?$/i

/**
 * The hosts that requests may name, on any port: `localhost`, names below it, loopback addresses, and the listed names. DNS rebinding
 * points the name of a foreign page at this machine; such a name is none of these, so the request is refused.
 */
export function hostsAllowed(names: readonly string[]): HostCheck {
  const listed = new Set(names.map(canonical))
  const known = new Map<string, boolean>()
  return (host) => {
    const before = known.get(host)
    if (before !== undefined) return before
    const match = HOST.exec(host)
    const name = match === null ? '' : canonical(match[1] ?? match[2] ?? '')
    const allowed = isLoopbackName(name) || (name !== '' && listed.has(name))
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(host, allowed)
    return allowed
  }
}

/** Reads the values of --allowed-host. @throws CommandFailure exit 3 for a value that is neither a name nor an address */
export function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const name = canonical(text.replace(/^\[([\da-f:.]+)\]$/i, '$1'))
    if (/^[a-z\d_]([\w.-]{0,252}[a-z\d_])?$/.test(name) || addressOf(name) !== undefined) return name
    const wanted = 'a name or an address without a port, such as limits.example or 2001:db8::1'
    throw usage(`--allowed-host is ${JSON.stringify(text)}: expected ${wanted}`)
  })
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)
}

/** The canonical spelling of a host: lower case, no trailing dot, Punycode for names, one spelling for each address. */
function canonical(host: string): string {
  const plain = host.replace(/\.$/, '').toLowerCase()
  const address = addressOf(plain)
  if (address !== undefined) return address
  return /^[!-~]*$/.test(plain) ? plain : domainToASCII(plain)
}

function addressOf(text: string): string | undefined {
  return clientAddress(text, {}, NOBODY)
}
