import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/** 16-bit words: two for IPv4, eight for IPv6. IPv4-mapped IPv6 becomes IPv4. */
export type Address = readonly number[]

const ZERO = 0x30
const DOT = 0x2e - ZERO
/** In characters: IPv6 whose last 32 bits are in dotted decimal. */
const MAX_TEXT_LENGTH = 45

/**
 * Accepts four decimal octets without leading zeros, and IPv6 as in RFC 4291, 2.2. Ports, brackets, zones, and short or octal IPv4 give
 * undefined.
 */
export function parseAddress(text: string): Address | undefined {
  const words = parseWords(text)
  return words !== undefined && isMapped(words) ? words.slice(6) : words
}

/** As `parseAddress`, but IPv4-mapped IPv6 stays IPv6. */
export function parseWords(text: string): Address | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

/** Whether eight words are an address in `::ffff:0:0/96`. */
export function isMapped(words: Address): boolean {
  return words.length === 8 && words[5] === 0xffff && words.slice(0, 5).every((word) => word === 0)
}

/** Dotted decimal, or IPv6 as in RFC 5952. */
export function formatAddress(address: Address): string {
  if (address.length === 2) {
    const [high, low] = address as readonly [number, number]
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
  }
  const { start, length } = longestZeros(address)
  const hex = address.map((word) => word.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

export function maskAddress(address: Address, prefix: number): Address {
  return address.map((word, index) => {
    const kept = Math.min(16, Math.max(0, prefix - index * 16))
    return word & (0xffff << (16 - kept)) & 0xffff
  })
}

/**
 * The text of an address in keys: its network, such as `2001:db8:1:2::/64`, or the address alone for a prefix of full length. IPv6 is
 * counted by prefix, because a client in a /64 has 2^64 addresses.
 * @throws LimiterError INVALID_ADDRESS for an invalid address, or for a prefix out of range
 */
export function groupAddress(address: string, v4Prefix: number = 32, v6Prefix: number = 64): string {
  const parsed = typeof address === 'string' ? parseAddress(address) : undefined
  if (parsed === undefined) throw new LimiterError('INVALID_ADDRESS', `${shown(address)} is not an IP address`)
  requirePrefix('IPv4', v4Prefix, 32)
  requirePrefix('IPv6', v6Prefix, 128)
  const bits = parsed.length * 16
  const prefix = bits === 32 ? v4Prefix : v6Prefix
  return prefix === bits ? formatAddress(parsed) : `${formatAddress(maskAddress(parsed, prefix))}/${prefix}`
}

function requirePrefix(of: string, prefix: number, bits: number): void {
  if (!Number.isInteger(prefix) || prefix < 1 || prefix > bits)
    throw new LimiterError('INVALID_ADDRESS', `prefix of ${of} is ${shown(prefix)}, expected a whole number from 1 to ${bits}`)
}

/** Without a regular expression or `split`, which take longer: each address is parsed several times. */
function parseV4(text: string): Address | undefined {
  let [high, word, octet, digits, dots] = [0, 0, 0, 0, 0]
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit === DOT && digits > 0 && dots < 3) {
      if (dots === 2) [high, word] = [word, 0]
      word = word * 256 + octet
      dots += 1
      octet = digits = 0
      continue
    }
    // Some parsers read a number with a leading zero as octal, others as decimal.
    if (digit < 0 || digit > 9 || (digits > 0 && octet === 0)) return undefined
    octet = octet * 10 + digit
    digits += 1
    if (octet > 255) return undefined
  }
  return dots === 3 && digits > 0 ? [high, word * 256 + octet] : undefined
}

function parseV6(text: string): Address | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = '', tail] = halves
  const front = parseGroups(head, tail === undefined)
  const back = tail === undefined ? [] : parseGroups(tail, true)
  if (front === undefined || back === undefined) return undefined
  const missing = 8 - front.length - back.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  return [...front, ...Array.from({ length: missing }, () => 0), ...back]
}

/** `last`: the address ends with these groups, so the last one may be dotted decimal. */
function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const words: number[] = []
  for (const [index, group] of groups.entries()) {
    if (last && index === groups.length - 1 && group.includes('.')) {
      const v4 = parseV4(group)
      if (v4 === undefined) return undefined
      words.push(...v4)
    } else if (/^[\da-f]{1,4}$/i.test(group)) words.push(Number.parseInt(group, 16))
    else return undefined
  }
  return words
}

function longestZeros(words: Address): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  let start = 0
  for (const [index, word] of words.entries()) {
    if (word !== 0) start = index + 1
    else if (index - start + 1 > best.length) best = { start, length: index - start + 1 }
  }
  return best
}
