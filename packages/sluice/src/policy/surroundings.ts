import { LimiterError } from '../errors/limiter-error.ts'
import { TRUST_FORM, type TrustedProxies, trustProxies } from '../identity/trusted-proxies.ts'
import type { Fields } from './fields.ts'
import type { Issues } from './issues.ts'

const SCHEMES = ['redis://', 'rediss://', 'postgres://', 'postgresql://']
const LATER = ['redis+cluster://', 'redis+sentinel://']

/** The `store` of a policy. A wrong one is not shown: it may hold a password. */
export function readStore(fields: Fields, issues: Issues): string | undefined {
  const node = fields.node('store')
  if (node === undefined) return undefined
  const text = node.kind === 'scalar' && node.type === 'text' ? node.text : ''
  if (text === 'memory' || text === 'memory:') return 'memory:'
  if (SCHEMES.some((scheme) => text.startsWith(scheme) && text.length > scheme.length)) return text
  if (text.startsWith('pglite:')) return text
  const later = LATER.find((scheme) => text.startsWith(scheme))
  const allowed = `memory:, pglite:DIR or a URL that begins with ${SCHEMES.join(', ')}`
  if (later !== undefined) issues.notYet(node.at, `store ${later}`)
  else issues.add(node.at, 'store', `store is not the URL of a store: expected ${allowed}`, { allowed })
  return undefined
}

/** The `trustedProxies` of a policy; undefined where it has none. */
export function readTrustedProxies(fields: Fields, issues: Issues): TrustedProxies | undefined {
  const node = fields.node('trustedProxies')
  if (node === undefined) return undefined
  if (node.kind !== 'list') {
    issues.wrong(node, 'trustedProxies', `a list of ${TRUST_FORM}`)
    return undefined
  }
  const entries = node.items.map((item, index) => {
    const text = item.kind === 'scalar' && item.type === 'text' ? item.text : ''
    try {
      trustProxies([text])
      return text
    } catch (error) {
      if (!(error instanceof LimiterError)) throw error
      const path = `trustedProxies[${index}]`
      if (text === '') issues.wrong(item, path, TRUST_FORM)
      else issues.add(item.at, path, `${path}: ${error.message}`, { value: JSON.stringify(text), allowed: TRUST_FORM })
      return undefined
    }
  })
  return entries.includes(undefined) ? undefined : trustProxies(entries as string[])
}
