/** How servers of the field read the path of a request target; models, not the servers. */
type Upstream = (target: string) => string

/** Bytes as they are, except for what is not a pair of hexadecimal digits. */
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
/** A percent sign that is text by now is itself, so that whoever compares does not decode it again. */
const asText = (path: string): string => path.replace(/[%?#]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)

/** Decoded once, slashes merged, dot segments resolved: what locations are chosen by, and what is passed on where a path is given. */
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
/** Dot segments resolved as RFC 3986 has it, empty ones counted, nothing decoded but dots. */
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
