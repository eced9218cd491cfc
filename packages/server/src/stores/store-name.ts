/** A URL with `//` does not match: somebody may have written a login by mistake. */
const IN_PROCESS = /^(?:memory|pglite):(?!\/\/)/

/**
 * Without login and query. The user's name may be a password whose colon was left out. If the end of the login cannot be located, only the
 * scheme is shown.
 */
export function withoutPassword(url: string): string {
  if (IN_PROCESS.test(url)) return url
  const [, scheme, authority, rest] = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (scheme === undefined || authority === undefined || rest === undefined) {
    const known = /^[a-z][a-z\d+.-]*:/i.exec(url)?.[0]
    return known === undefined && !url.includes('@') ? url : `${known ?? ''}***`
  }
  // An @ after the host may end a password that contains a slash or a question mark.
  if (rest.includes('@')) return `${scheme}://***`
  const at = authority.lastIndexOf('@')
  const host = at === -1 ? authority : `***${authority.slice(at)}`
  const path = /^[^?#]*/.exec(rest)?.[0] ?? ''
  return `${scheme}://${host}${path}${path === rest ? '' : '?***'}`
}

/**
 * Whether an @ follows a `/` or `#` that is not escaped, as in a password. A client would take the beginning of the password for a
 * host, and name the host in its messages.
 */
export function hasLateLogin(url: string): boolean {
  const [, path = '', hash = ''] = /^[^:]*:\/\/[^/?#]*([^?#]*)(?:\?[^#]*)?(.*)$/s.exec(url) ?? []
  return !IN_PROCESS.test(url) && `${path}${hash}`.includes('@')
}

/** Whether a store's URL contains a password or another secret. */
export function hasPassword(url: string): boolean {
  return !IN_PROCESS.test(url) && secretsOf(url).length > 0
}

/** Also hides parts of the password, because a driver may parse the URL in another way. */
export function withoutSecrets(message: string, url: string): string {
  return secretsOf(url).reduce((shown, secret) => shown.replaceAll(secret, '***'), message)
}

function secretsOf(url: string): string[] {
  const [, authority = '', query = ''] = /^[^:]*:\/\/([^/?#]*)[^?]*\??(.*)$/s.exec(url) ?? []
  const greedy = /^[^:]*:\/\/[^:]*:(.*)@/s.exec(url)?.[1]
  const written = [greedy, split(authority.slice(0, Math.max(0, authority.lastIndexOf('@'))))[1], ...valuesOf(query)]
  const all = written.flatMap((text) => (text === undefined ? [] : [text, decoded(text), ...text.split('@')]))
  return [...new Set(all)].filter((text) => text !== '').sort((a, b) => b.length - a.length)
}

function valuesOf(query: string): string[] {
  const secret = query.split('&').filter((pair) => /^[^=]*(?:pass|pwd|secret|token|auth)/i.test(pair))
  return secret.map((pair) => split(pair, '=')[1] ?? '')
}

function split(text: string, by: string = ':'): [string, string | undefined] {
  const at = text.indexOf(by)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
