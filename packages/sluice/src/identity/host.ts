import { AMBIGUOUS } from './ambiguous.ts'
import { type HeaderFields, headerLines } from './header-lines.ts'

/**
 * The hosts that a request names, in lower case, without port and final dots. Several where it has several, and where its Host is not one (with
 * user information, a path, escapes): AMBIGUOUS, and each that an upstream may find in it. It is the client's word.
 */
export function hostsOf(fields: HeaderFields): readonly string[] {
  const [authority, host] = [headerLines(fields, ':authority'), headerLines(fields, 'host')]
  const lines = authority.length === 0 ? host : host.length === 0 ? authority : [...authority, ...host]
  if (lines.length === 0) return lines
  const [first] = lines
  const only = lines.length === 1 && first !== undefined ? canonicalHost(first) : undefined
  return only === undefined ? [...new Set(lines.flatMap(readingsOf))] : [only]
}

/** A name of DNS or an address, of IPv6 in brackets, and a port, which may be empty: fewer names than RFC 3986 section 3.2.2 has. */
const HOST = /^(\[[\da-f:.]*\]|[\w.-]*)(?::\d*)?$/
/** Characters of a name that is looked for in what is no Host: three for each of the longest name of DNS. */
const MAX_NAME = 759

/** The one spelling of a host; undefined for what is not a host. */
export function canonicalHost(text: string): string | undefined {
  const host = HOST.exec(text.trim().toLowerCase())?.[1]
  return host === undefined ? undefined : withoutDots(host)
}

function withoutDots(host: string): string {
  let end = host.length
  while (end > 0 && host[end - 1] === '.') end -= 1
  return host.slice(0, end)
}

function readingsOf(text: string): readonly string[] {
  const host = canonicalHost(text)
  if (host !== undefined) return [host]
  // Where there is an @ after the name, some look for user information in front of the last one, and some know that it is in a path.
  const names = [text, text.split(/[/\\?#]/, 1)[0] ?? ''].map(nameIn)
  return [AMBIGUOUS, text.trim().toLowerCase(), ...names.map(withoutDots), ...names.flatMap(decoded)]
}

/** What follows the last @, up to what cannot be in a name. */
function nameIn(text: string): string {
  const name = text.slice(text.lastIndexOf('@') + 1).trim()
  return (name.split(/[:/\\?#,;\s]/, 1)[0] ?? '').toLowerCase()
}

/** As a parser of URLs reads it, which decodes escapes and maps letters to plain ones. */
function decoded(name: string): readonly string[] {
  if (name.length > MAX_NAME) return []
  try {
    return [withoutDots(new URL(`http://${name}`).hostname)]
  } catch {
    return []
  }
}
