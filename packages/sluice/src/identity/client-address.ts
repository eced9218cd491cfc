import { type Form, OBJECT, requireForm } from '../errors/options.ts'
import { headerField, type Headers } from './headers.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

const PEER: Form = [(value) => value === undefined || value === null || typeof value === 'string', 'the text of an address, or nothing']
const TRUST: Form = [(value) => typeof (value as TrustedProxies | null | undefined)?.trusts === 'function', 'what trustProxies gave']

/**
 * The client's address in canonical form; undefined if there is none (a socket of the file system, or closed). It is the peer, unless the
 * peer is trusted. Then the header is read from the right, and the first hop that is not trusted is the client. An unreadable hop ends the
 * search at the hop to its right. That may be coarse, but the client cannot choose it.
 * @param peer null counts as absent
 * @throws LimiterError INVALID_OPTIONS for arguments of another type
 */
export function clientAddress(peer: string | null | undefined, headers: Headers, trust: TrustedProxies): string | undefined {
  requireForm('clientAddress', 'peer', peer, PEER)
  requireForm('clientAddress', 'headers', headers, OBJECT)
  requireForm('clientAddress', 'trust', trust, TRUST)
  const start = typeof peer === 'string' ? parseZoned(peer) : undefined
  if (start === undefined) return undefined
  let client = start
  const header = headerText(headers, trust.source)
  if (header !== undefined && trust.trusts(start)) {
    for (const hop of hopsOf(trust.source, header)) {
      if (hop === undefined) break
      client = hop
      if (!trust.trusts(hop)) break
    }
  }
  return formatAddress(client)
}

/** Whether the peer is a trusted proxy, so that its other headers may be trusted too. @throws LimiterError INVALID_OPTIONS */
export function isTrustedPeer(peer: string | null | undefined, trust: TrustedProxies): boolean {
  requireForm('isTrustedPeer', 'peer', peer, PEER)
  requireForm('isTrustedPeer', 'trust', trust, TRUST)
  const address = typeof peer === 'string' ? parseZoned(peer) : undefined
  return address !== undefined && trust.trusts(address)
}

function headerText(headers: Headers, name: string): string | undefined {
  const value = headerField(headers, name)
  if (typeof value === 'string') return value
  return value !== undefined && value.length > 0 ? value.join(', ') : undefined
}

/** Bounds on a forwarding header: only this many characters, from its end, and this many hops are read. */
const MAX_HEADER_LENGTH = 8_192
const MAX_HOPS = 32
const MAX_HOP_LENGTH = 128

/**
 * The hops of a forwarding header, the nearest first. Ends with undefined at the first unreadable hop: hops beyond it are not trusted.
 * Bounded in length and hops.
 * @param source `forwarded` (RFC 7239), `x-forwarded-for`, or a header that contains one address
 */
function* hopsOf(source: string, header: string): Generator<Address | undefined> {
  const text = header.slice(-MAX_HEADER_LENGTH)
  if (source !== 'forwarded' && source !== 'x-forwarded-for') return yield parseHop(text.trim())
  const parse = source === 'forwarded' ? parseElement : parseHop
  let end = text.length
  for (let hops = 0; end >= 0 && hops < MAX_HOPS;) {
    const start = elementStart(text, end)
    // An element without a beginning is malformed; one at the cut may have lost its beginning.
    if (start === undefined || (start === 0 && text.length < header.length)) return yield undefined
    const element = text.slice(start, end)
    end = start - 1
    // A list may have empty elements, which are not hops (RFC 9110, 5.6.1.2).
    if (/^[ \t]*$/.test(element)) continue
    const hop = parse(element.trim())
    hops += 1
    yield hop
    if (hop === undefined) return
  }
  if (end >= 0) yield undefined
}

/** Parses an address as in forwarding headers: `a.b.c.d`, `a.b.c.d:port`, `[v6]`, `[v6]:port` or bare IPv6. Drops zones. */
function parseHop(text: string): Address | undefined {
  if (text.length > MAX_HOP_LENGTH) return undefined
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)
  if (bracketed?.[1] !== undefined) return bracketed[1].includes(':') ? parseZoned(bracketed[1]) : undefined
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)
  return withPort === null ? parseZoned(text) : parseAddress(withPort[1] as string)
}

/** As `parseAddress`, but drops a zone (`fe80::1%eth0`), which names an interface of the sender. */
function parseZoned(text: string): Address | undefined {
  const percent = text.indexOf('%')
  if (percent === -1) return parseAddress(text)
  const address = text.slice(0, percent)
  return address.includes(':') && /^%[\w.~-]{1,64}$/.test(text.slice(percent)) ? parseAddress(address) : undefined
}

/**
 * The start of the last element before `end`, read from the right. So a quote that the client opened on the left cannot swallow anything
 * that a proxy wrote. Undefined if a quoted string has no beginning.
 */
function elementStart(text: string, end: number): number | undefined {
  let quoted = false
  for (let at = end - 1; at >= 0; at -= 1) {
    const unit = text[at]
    if (unit === ',' && !quoted) return at + 1
    if (unit === '"' && !escaped(text, at)) quoted = !quoted
  }
  return quoted ? undefined : 0
}

function escaped(text: string, at: number): boolean {
  let backslashes = 0
  while (at - 1 - backslashes >= 0 && text[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

const PAIR = /^([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")$/

/** The `for` of one element; undefined if it is missing, hidden or unknown, or if the element is malformed. */
function parseElement(element: string): Address | undefined {
  const seen = new Map<string, Address | undefined>()
  for (const pair of pairsOf(element)) {
    const match = PAIR.exec(pair)
    const name = match?.[1]?.toLowerCase()
    if (match === null || name === undefined || seen.has(name)) return undefined
    seen.set(name, name === 'for' ? parseNode(match[2], match[3]) : undefined)
  }
  return seen.get('for')
}

/** Parses a node: IPv6 and ports are quoted, IPv6 also bracketed (RFC 7239, 4 and 6). An obfuscated port is dropped like a real one. */
function parseNode(token: string | undefined, quoted: string | undefined): Address | undefined {
  if (token !== undefined) return parseAddress(token)
  const text = (quoted as string).replace(/\\(.)/g, '$1').replace(/:_[\w.-]+$/, '')
  return text.startsWith('[') || !/:.*:/.test(text) ? parseHop(text) : undefined
}

function pairsOf(element: string): string[] {
  const pairs: string[] = []
  let quoted = false
  let start = 0
  for (let at = 0; at <= element.length; at += 1) {
    if (at < element.length && element[at] === '\\' && quoted) at += 1
    else if (element[at] === '"') quoted = !quoted
    else if (at === element.length || (element[at] === ';' && !quoted)) {
      const pair = element.slice(start, at).trim()
      if (pair !== '') pairs.push(pair)
      start = at + 1
    }
  }
  if (quoted) pairs.push('"')
  return pairs
}
