import { type Form, having, OBJECT, requireForm } from '../errors/options.ts'
import { type Headers, joinedField } from './headers.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

const PEER: Form = [(value) => value === undefined || value === null || typeof value === 'string', 'the text of an address, or nothing']
const TRUST: Form = having('what trustProxies gave', 'trusts')

/**
 * The client's canonical address; undefined without an address, as on a Unix socket. It is the peer, unless the peer is a trusted proxy: then
 * it is the last untrusted hop of the forwarding header. If a hop is unreadable, the hop to its right counts, because the client cannot
 * choose that one.
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
  const header = joinedField(headers, trust.source, ', ')
  if (header !== undefined && trust.trusts(start)) {
    for (const hop of hopsOf(trust.source, header)) {
      if (hop === undefined) break
      client = hop
      if (!trust.trusts(hop)) break
    }
  }
  return formatAddress(client)
}

/** Whether a trusted proxy sent the request. Other headers may then be trusted too. @throws LimiterError INVALID_OPTIONS */
export function isTrustedPeer(peer: string | null | undefined, trust: TrustedProxies): boolean {
  requireForm('isTrustedPeer', 'peer', peer, PEER)
  requireForm('isTrustedPeer', 'trust', trust, TRUST)
  const address = typeof peer === 'string' ? parseZoned(peer) : undefined
  return address !== undefined && trust.trusts(address)
}

/** Bounds in characters, hops, and characters of a hop. */
const MAX_HEADER_LENGTH = 8_192
const MAX_HOPS = 32
const MAX_HOP_LENGTH = 128

/**
 * Yields the nearest hop first. Yields undefined for an unreadable hop and ends, because hops to its left cannot be trusted.
 * @param source `forwarded` (RFC 7239), `x-forwarded-for`, or a header that contains one address
 */
function* hopsOf(source: string, header: string): Generator<Address | undefined> {
  const text = header.slice(-MAX_HEADER_LENGTH)
  if (source !== 'forwarded' && source !== 'x-forwarded-for') return yield parseHop(text.trim())
  const parse = source === 'forwarded' ? parseElement : parseHop
  let end = text.length
  for (let hops = 0; end >= 0 && hops < MAX_HOPS;) {
    const start = elementStart(text, end)
    // The element is malformed, or it may be incomplete because the header was shortened.
    if (start === undefined || (start === 0 && text.length < header.length)) return yield undefined
    const element = text.slice(start, end)
    end = start - 1
    // Empty elements are not hops (RFC 9110, 5.6.1.2).
    if (/^[ \t]*$/.test(element)) continue
    const hop = parse(element.trim())
    hops += 1
    yield hop
    if (hop === undefined) return
  }
  if (end >= 0) yield undefined
}

/** Accepts `a.b.c.d`, `a.b.c.d:port`, `[v6]`, `[v6]:port` and bare IPv6. */
function parseHop(text: string): Address | undefined {
  if (text.length > MAX_HOP_LENGTH) return undefined
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)
  if (bracketed?.[1] !== undefined) return bracketed[1].includes(':') ? parseZoned(bracketed[1]) : undefined
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)
  return withPort === null ? parseZoned(text) : parseAddress(withPort[1] as string)
}

/** Drops a zone (`fe80::1%eth0`), which names an interface of the sender. */
function parseZoned(text: string): Address | undefined {
  const percent = text.indexOf('%')
  if (percent === -1) return parseAddress(text)
  const address = text.slice(0, percent)
  return address.includes(':') && /^%[\w.~-]{1,64}$/.test(text.slice(percent)) ? parseAddress(address) : undefined
}

/**
 * Reads from the right, so that a quote that the client opened on the left cannot hide what a proxy wrote. Undefined if a closing quote
 * has no opening quote.
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

const PAIR = /\s*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")\s*)?(?:;|$)/y

/** Undefined without a readable `for`. */
function parseElement(element: string): Address | undefined {
  const seen = new Map<string, Address | undefined>()
  for (PAIR.lastIndex = 0; PAIR.lastIndex < element.length;) {
    const match = PAIR.exec(element)
    if (match === null) return undefined
    const name = match[1]?.toLowerCase()
    if (name === undefined) continue
    if (seen.has(name)) return undefined
    seen.set(name, name === 'for' ? parseNode(match[2], match[3]) : undefined)
  }
  return seen.get('for')
}

/** A node of RFC 7239, sections 4 and 6: IPv6 and ports are in quotes. A port is dropped, even an obfuscated one. */
function parseNode(token: string | undefined, quoted: string | undefined): Address | undefined {
  if (token !== undefined) return parseAddress(token)
  const text = (quoted as string).replace(/\\(.)/g, '$1').replace(/:_[\w.-]+$/, '')
  return text.startsWith('[') || !/:.*:/.test(text) ? parseHop(text) : undefined
}
