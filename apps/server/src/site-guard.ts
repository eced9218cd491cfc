import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import { normalizePath } from 'sluice/policy'
import type { HostCheck } from './allowed-hosts.ts'
import { Refusal, sendError } from './answer.ts'

/** They say how the process is, to probes that name any host. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz'])
/**
 * Proxies send requests there with the headers of their own clients: Host, Origin and Sec-Fetch-Site are about the site that they protect.
 * Without a header of a proxy they are about this service. To a plain http name other than localhost a browser sends no Sec-Fetch-Site, and
 * with GET no Origin, so that on loopback the Host alone tells a page apart.
 */
const FORWARDED = /^\/v1\/(?:auth|decision)(?:\/|$)/
/** What proxies add to a request. A page can send none of these to another site without being asked first, and this service allows none. */
const BY_PROXY = /^x-(?:forwarded|original|envoy)-/

/**
 * Refuses what a browser asks for another site: a web page could charge keys of a service that only this machine reaches, or, with its
 * own name pointed here, read what the service says.
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
  // Most requests are made by programs, for a host of ours.
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
  return new Refusal(403, 'Forbidden', `The host ${shown} is not this service's; expected ${own}.`)
}

function otherSite(): Refusal {
  return new Refusal(
    403,
    'Forbidden',
    'A browser asks for another site (Origin, Sec-Fetch-Site); expected a page of this service, or a program.',
  )
}

/** Whether a page of another origin asks. A program says neither where it comes from nor for which site. */
function isForeign({ origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  // Where the browser says it, the port and the name count that it used, whatever a proxy has made of Host.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const own = /^https?:\/\/(.+)$/i.exec(origin)?.[1]
  return own === undefined || own.toLowerCase() !== host?.toLowerCase()
}

/** Somebody follows a link to the page, which another site cannot read. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}
