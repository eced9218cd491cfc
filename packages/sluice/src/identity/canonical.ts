import { groupAddress, parseAddress } from './address.ts'
import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { AMBIGUOUS } from './ambiguous.ts'
import { credentialReadings, CREDENTIALS } from './credentials.ts'
import { canonicalHost } from './host.ts'
import { readPath } from './path-readings.ts'
import { pathTemplate } from './path-template.ts'
import { prefixesOf, type Source } from './source.ts'

/**
 * Converts a value that a person wrote to the form that its source gives. An IPv6 address becomes its network; a host becomes lower case
 * without port and final dots. Undefined for a value that the source can never give.
 */
export function canonicalValue(source: Source, text: string): string | undefined {
  const colon = source.text.indexOf(':')
  const [kind, name] = [source.text.slice(0, Math.max(0, colon)), source.text.slice(colon + 1)]
  switch (kind) {
    case 'ip':
      return networkOf(name, text)
    case 'path': {
      if (text === AMBIGUOUS) return text
      const { path, unreadable } = readPath(text)
      if (unreadable !== undefined) return undefined
      return name === 'template' ? pathTemplate(path) : path
    }
    case 'method': {
      const method = text.toUpperCase()
      return method === 'HEAD' ? 'GET' : method
    }
    case 'header':
      return CREDENTIALS.has(name) ? credentialOf(text) : text
    case 'host':
      return text === AMBIGUOUS ? text : canonicalHost(text)
    case 'ua':
      return text === 'true' || text === 'false' ? text : undefined
    default:
      return text
  }
}

/** Undefined for credentials that backends read in several ways: the value would match all such requests. */
function credentialOf(text: string): string | undefined {
  const readings = credentialReadings(text)
  return readings.length === 1 ? readings[0] : undefined
}

/** Also accepts a network as keys write it, by the network's own address. */
function networkOf(name: string, text: string): string | undefined {
  const [v4, v6] = prefixesOf(name) ?? [32, 64]
  const [address = '', prefix] = text.split('/')
  if (parseAddress(address) === undefined) return undefined
  const found = attempt(() => groupAddress(address, v4, v6))
  return found instanceof LimiterError || (prefix !== undefined && found !== text.toLowerCase()) ? undefined : found
}
