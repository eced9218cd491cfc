import { domainToASCII } from 'node:url'
import { clientAddress, trustProxies } from 'sluice/policy'
import { CommandFailure, EXIT } from '../cli/failure.ts'

/** Decides whether a Host header names this service. */
export type HostCheck = (host: string) => boolean

/** Verdicts that are cached: nearly all requests have the same header. */
const MAX_KNOWN = 1_000
const NOBODY = trustProxies([])
/** A name or an IPv4 address, or an IPv6 address in brackets, each with or without a port. */
const HOST = /^(?:\[([\da-f:.]+)\]|([^:[\]/@\s]+))(?::\d{0,5})?$/i

/**
 * The hosts that requests may name, on any port: `localhost`, names below it, loopback addresses, and the listed names. DNS rebinding
 * points the name of a foreign page at this machine; such a name is none of these, so the request is refused.
 */
export function hostsAllowed(names: readonly string[]): HostCheck {
  const listed = new Set(names.map(canonical))
  const known = new Map<string, boolean>()
  return (host) => {
    const before = known.get(host)
    if (before !== undefined) return before
    const match = HOST.exec(host)
    const name = match === null ? '' : canonical(match[1] ?? match[2] ?? '')
    const allowed = isLoopbackName(name) || (name !== '' && listed.has(name))
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(host, allowed)
    return allowed
  }
}

/**
 * Reads the values of --allowed-host.
 * @throws CommandFailure exit 3 for a value that is neither a name nor an address
 */
export function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const name = canonical(text.replace(/^\[([\da-f:.]+)\]$/i, '$1'))
    if (/^[a-z\d_]([\w.-]{0,252}[a-z\d_])?$/.test(name) || addressOf(name) !== undefined) return name
    const wanted = 'a name or an address without a port, such as limits.example or 2001:db8::1'
    throw new CommandFailure(EXIT.usage, `--allowed-host is ${JSON.stringify(text)}: expected ${wanted}`)
  })
}

/** Whether a Host header names this machine itself. */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)
}

/** The canonical spelling of a host: lower case, no trailing dot, Punycode for names, one spelling for each address. */
function canonical(host: string): string {
  const plain = host.replace(/\.$/, '').toLowerCase()
  const address = addressOf(plain)
  if (address !== undefined) return address
  return /^[!-~]*$/.test(plain) ? plain : domainToASCII(plain)
}

function addressOf(text: string): string | undefined {
  return clientAddress(text, {}, NOBODY)
}
