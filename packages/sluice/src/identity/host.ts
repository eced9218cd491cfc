import { AMBIGUOUS, type HeaderFields, headerLines } from './headers.ts'

/**
 * Hosts in lower case, without port and final dots, an IP address as URL parsers write it; not verified. An invalid Host (with user
 * information, a path or escapes) gives AMBIGUOUS, and each host that an upstream may find in it.
 */
export function hostsOf(fields: HeaderFields): readonly string[] {
  const [authority, host] = [headerLines(fields, ':authority'), headerLines(fields, 'host')]
  const lines = authority.length === 0 ? host : host.length === 0 ? authority : [...authority, ...host]
  if (lines.length === 0) return lines
  const [first] = lines
  const only = lines.length === 1 && first !== undefined ? canonicalHost(first) : undefined
  return only === undefined ? [...new Set(lines.flatMap(readingsOf))] : [only]
}

/** A name or an address (IPv6 in brackets), then an optional port. Stricter than RFC 3986, 3.2.2. */
const HOST = /^(\[[\da-f:.]*\]|[\w.-]*)(?::\d*)?$/
/** A DNS name has at most 253 characters, and each may be a percent escape (three characters). */
const MAX_NAME = 759

/** URL parsers read a host as an address if it has brackets, or if its last label is a number: `127.1` is 127.0.0.1. */
const ADDRESS = /^\[|(?:^|\.)(?:\d+|0x[\da-f]*)\.*$/

export function canonicalHost(text: string): string | undefined {
  const host = HOST.exec(text.trim().toLowerCase())?.[1]
  if (host === undefined) return undefined
  return ADDRESS.test(host) ? parsedHost(host) : withoutDots(host)
}

function withoutDots(host: string): string {
  let end = host.length
  while (end > 0 && host[end - 1] === '.') end -= 1
  return host.slice(0, end)
}

function readingsOf(text: string): readonly string[] {
  const host = canonicalHost(text)
  if (host !== undefined) return [host]
  // Some upstreams take all text before the last @ for user information, even if the @ is in a path.
  const names = [text, text.split(/[/\\?#]/, 1)[0] ?? ''].map(nameIn)
  return [AMBIGUOUS, text.trim().toLowerCase(), ...names.map(withoutDots), ...names.flatMap((name) => parsedHost(name) ?? [])]
}

/** An IPv6 address in brackets, or characters of a DNS name. */
const NAME = /^(?:\[[\da-f:.]*\]|[^:/\\?#,;\s]*)/i

/** The name or address after the last @. */
function nameIn(text: string): string {
  const name = text.slice(text.lastIndexOf('@') + 1).trim()
  return (NAME.exec(name)?.[0] ?? '').toLowerCase()
}

/** URL parsers decode escapes, map letters of other scripts to plain ones, and write each IP address in one way. */
function parsedHost(name: string): string | undefined {
  if (name.length > MAX_NAME) return undefined
  try {
    return withoutDots(new URL(`http://${name}`).hostname)
  } catch {
    return undefined
  }
}
