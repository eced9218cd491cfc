import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/** An IP address as 16-bit words: two for IPv4, eight for IPv6. IPv4-mapped IPv6 (`::ffff:0:0/96`) becomes IPv4. */
export type Address = readonly number[]

/** The longest text of an address. */
const MAX_TEXT_LENGTH = 45

/**
 * Parses an address; undefined if the text is not one. It accepts dotted decimal of four octets without leading zeros, or IPv6 as in RFC
 * 4291, 2.2, in any case and notation. It accepts no port, brackets, zone, octal, hexadecimal or short form of IPv4.
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

/** The canonical text of an address: dotted decimal, or IPv6 as in RFC 5952. */
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

/** The address with all bits after the prefix cleared. */
export function maskAddress(address: Address, prefix: number): Address {
  return address.map((word, index) => {
    const kept = Math.min(16, Math.max(0, prefix - index * 16))
    return word & (0xffff << (16 - kept)) & 0xffff
  })
}

/**
 * The text of an address in keys: one per prefix (`2001:db8:1:2::/64`), or the address alone if the prefix is its whole length. The holder
 * of a /64 has 2^64 addresses, so IPv6 is counted by prefix.
 * @throws LimiterError INVALID_ADDRESS for an invalid address, or a prefix of either kind that does not fit it
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

function parseV4(text: string): Address | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (match === null) return undefined
  const octets = match.slice(1)
  // A leading zero means octal to some readers and decimal to others.
  if (octets.some((octet) => (octet.length > 1 && octet.startsWith('0')) || Number(octet) > 255)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number)
  return [a * 256 + b, c * 256 + d]
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

/** Parses groups between colons. The last may be dotted decimal if the address ends there. */
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
