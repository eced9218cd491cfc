/** How common servers read the path of a request target. These are models of the servers, and not the servers themselves. */
type Upstream = (target: string) => string

/**
 * Decodes percent-encoding into characters. A percent sign without two hexadecimal digits after it stays as it is, and so do the characters
 * in `keep`.
 */
function unquote(text: string, keep: string = ''): string {
  return text.replace(/%([\da-f]{2})/gi, (found, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return keep.includes(character) ? found : character
  })
}

function resolve(path: string, merge: boolean): string {
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '.' && !(merge && segment === '')) kept.push(segment)
  }
  return `/${kept.join('/')}`
}

const withoutParameters = (path: string): string => path.replace(/;[^/]*/g, '')
/** Encodes each percent sign, question mark and number sign of a decoded path. So the comparison does not decode them a second time. */
const asText = (path: string): string => path.replace(/[%?#]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)

/**
 * nginx decodes once, merges slashes and resolves dot segments. It chooses locations by this path, and passes it on if `proxy_pass` has a
 * path.
 */
const nginx: Upstream = (target) => resolve(unquote(target), true)
/** PATH_INFO: decoded once, nothing else. */
const wsgi: Upstream = (target) => unquote(target)
/** Parameters dropped first, then decoded and resolved, `%2F` and `%5C` allowed. */
const servlet: Upstream = (target) => resolve(unquote(withoutParameters(target)).replaceAll('\\', '/'), true)
/** Backslashes are slashes. */
const iis: Upstream = (target) => resolve(unquote(target).replaceAll('\\', '/'), true)
/** What a program with a URL parser makes of `request.url`. */
const url: Upstream = (target) => {
  try {
    return new URL(target, 'http://host').pathname
  } catch {
    // Such a program answers with an error.
    return '/%'
  }
}
/** A router over the target as it came. */
const raw: Upstream = (target) => target
/** Resolves dot segments by RFC 3986. Empty segments count as segments, and only encoded dots are decoded. */
const rfc3986: Upstream = (target) => resolve(target.replace(/%2e/gi, '.'), false)
/** Slashes stay encoded, everything else is decoded. */
const keepingSlashes: Upstream = (target) => resolve(unquote(target, '/'), true)

const CHAIN =
  (...hops: readonly Upstream[]): Upstream =>
  (target) =>
    hops.reduce((seen, hop) => hop(seen), target)

export const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  nginx: (target) => asText(nginx(target)),
  'Python WSGI': (target) => asText(wsgi(target)),
  'a servlet container': (target) => asText(servlet(target)),
  IIS: (target) => asText(iis(target)),
  'a URL parser': url,
  'a router over the raw target': raw,
  'RFC 3986': rfc3986,
  'a server that keeps slashes encoded': (target) => asText(keepingSlashes(target)),
  'nginx before WSGI': (target) => asText(CHAIN(nginx, wsgi)(target)),
  'nginx before a servlet container': (target) => asText(CHAIN(nginx, servlet)(target)),
  'RFC 3986 before IIS, which decodes twice': (target) => asText(CHAIN(rfc3986, wsgi, iis)(target)),
  'a URL parser before WSGI': (target) => asText(CHAIN(url, wsgi)(target)),
}
