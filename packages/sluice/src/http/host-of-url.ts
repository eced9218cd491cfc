import { canonicalHost } from '../identity/host.ts'

/** Not read by a URL parser, which throws for hosts such as `a.1` that some servers put into the URL unchecked. */
const AUTHORITY = /^[^:/?#]+:\/\/([^/?#\\]+)/

/**
 * Over HTTP/2, or with a whole URL as the request target, the host of a fetch Request is in its URL. If the Host field has another host,
 * both are passed on, because the application may read either.
 */
export function withHost(headers: Record<string, string>, url: string): Record<string, string> {
  const authority = AUTHORITY.exec(url)?.[1]
  const { host } = headers
  if (authority === undefined || authority === host) return headers
  if (host === undefined) return { ...headers, host: authority }
  const canonical = canonicalHost(host)
  return canonical !== undefined && canonical === canonicalHost(authority) ? headers : { ...headers, ':authority': authority }
}
