/**
 * The printable form of a store's URL: without the password, and without the query, which may contain one. Of a text in which the
 * password cannot be located, only the scheme is shown.
 */
export function withoutPassword(url: string): string {
  if (/^(?:memory|pglite):/.test(url)) return url
  const [, scheme, authority, rest] = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (scheme === undefined || authority === undefined || rest === undefined) {
    const known = /^[a-z][a-z\d+.-]*:/i.exec(url)?.[0]
    return known === undefined && !url.includes('@') ? url : `${known ?? ''}***`
  }
  // An @ after the host may end a password that contains a slash or a question mark.
  if (rest.includes('@')) return `${scheme}://***`
  const at = authority.lastIndexOf('@')
  const [user, secret] = split(authority.slice(0, Math.max(0, at)))
  const who = at === -1 ? '' : `${user}${secret === undefined ? '' : ':***'}@`
  const path = /^[^?#]*/.exec(rest)?.[0] ?? ''
  return `${scheme}://${who}${authority.slice(at + 1)}${path}${path === rest ? '' : '?***'}`
}

/** A driver's message without any part of the password, however the driver may have parsed the URL. */
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
  return query.split('&').flatMap((pair) => (/^[^=]*(?:pass|pwd|secret|token|auth)/i.test(pair) ? [split(pair, '=')[1] ?? ''] : []))
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
