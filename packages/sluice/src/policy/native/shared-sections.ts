import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { createNetworkSet } from '../../identity/network.ts'
import { readTrusted, TRUST_FORM, type TrustedProxies, trustNetworks } from '../../identity/trusted-proxies.ts'
import { type Fields, openFields, readChoice, readDuration, readText, readTexts, requiredField } from '../document/fields.ts'
import { fieldOf, itemsOf, join, refuse, textOf, type Value, wrong } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { IdentifierChoice, JwtChoice, PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { parseStoreUrl, STORE_FORM, storeParameterMistake, type StoreUrl } from '../model/store-url.ts'
import { readExempt } from './exempt.ts'
import { IDENTIFIER_MODES, IDENTIFIERS, JWT, PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from './grammar.ts'
import { toMillis } from '../../time/micros.ts'
import { readOverrides } from './override.ts'

/** Names of the sections that `readSharedSections` reads. */
export const SHARED_SECTIONS: readonly string[] = ['store', 'trustedProxies', 'identifiers', 'jwt', 'exempt', 'overrides']

/** Reads the sections that every dialect may have in addition to its rules, in the same form. */
export function* readSharedSections(
  fields: Fields,
  rules: readonly Rule[],
): Sliced<Pick<PolicyBody, 'exempt' | 'overrides' | 'identifiers' | 'jwt' | 'store' | 'storeUrl' | 'trustedProxies'>> {
  const storeUrl = readStore(fieldOf(fields, 'store'))
  const trustedProxies = yield* readTrustedProxies(fieldOf(fields, 'trustedProxies'))
  const identifiers = readIdentifiers(fields)
  const jwt = readJwt(fields)
  const exempt = yield* readExempt(fields)
  const overrides = yield* readOverrides(fields, rules)
  return defined({ store: storeUrl?.url, storeUrl, trustedProxies, identifiers, jwt, exempt, overrides })
}

/** Reads the `store` of a policy. Messages do not show a wrong one, because it may contain a password. */
function readStore(value: Value | undefined): StoreUrl | undefined {
  if (value === undefined) return undefined
  const text = textOf(value.node) ?? ''
  const mistake = storeParameterMistake(text)
  if (mistake !== undefined) return refuse(value, ` ${mistake}`)
  return parseStoreUrl(text) ?? refuse(value, ` is not the URL of a store: expected ${STORE_FORM}`, { allowed: STORE_FORM })
}

const FILE_FORM = 'the name of a file'

/** Reads whether keys contain plain identifiers; undefined if the policy does not say. */
function readIdentifiers(policy: Fields): IdentifierChoice | undefined {
  const fields = openFields(fieldOf(policy, 'identifiers'), IDENTIFIERS)
  if (fields === undefined) return undefined
  const mode = readChoice(requiredField(fields, 'mode', IDENTIFIER_MODES.join(' or ')), IDENTIFIER_MODES)
  const secretFile = readText(fieldOf(fields, 'secretFile'), FILE_FORM)
  if (mode === 'hmac') requiredField(fields, 'secretFile', 'the name of a file with the secret')
  const superfluous = mode === 'plain' ? fieldOf(fields, 'secretFile') : undefined
  if (superfluous !== undefined) refuse(superfluous, ' has no use in mode plain: expected mode hmac')
  if (mode === 'plain') return { mode }
  return mode === undefined || secretFile === undefined ? undefined : { mode, secretFile }
}

/** Reads the `trustedProxies` of a policy; undefined if it has none. */
function* readTrustedProxies(list: Value | undefined): Sliced<TrustedProxies | undefined> {
  if (list === undefined) return undefined
  if (list.node.kind !== 'list') return wrong(list, `a list of ${TRUST_FORM}`)
  const networks = createNetworkSet()
  for (const item of itemsOf(list)) {
    yield
    const text = textOf(item.node) ?? ''
    const trusted = attempt(() => readTrusted(text))
    if (!(trusted instanceof LimiterError)) for (const network of trusted) networks.add(network)
    else if (text === '') wrong(item, TRUST_FORM)
    else refuse(item, `: ${trusted.message}`, { value: JSON.stringify(text), allowed: TRUST_FORM })
  }
  return trustNetworks(networks)
}

const WAYS = ['secretFile', 'jwksFile', 'jwksUrl', 'verified'] as const
const URL_FORM = 'an https:// URL without credentials, or an http:// one of this machine (127.0.0.1, [::1], localhost)'
const MAX_LEEWAY_MS = 600_000

/** Reads the `jwt` of a policy; undefined if it has none. A wrong one is reported and gives undefined. */
function readJwt(policy: Fields): JwtChoice | undefined {
  const jwt = openFields(fieldOf(policy, 'jwt'), JWT)
  if (jwt === undefined) return undefined
  const ways = WAYS.filter((name) => fieldOf(jwt, name) !== undefined)
  const [way] = ways
  if (way === undefined || ways.length > 1)
    return refuse(jwt, ` has ${way === undefined ? 'none' : ways.join(' and ')}: expected one of ${WAYS.join(', ')}`)
  if (way === 'verified') {
    for (const name of ['algorithms', 'issuer', 'audience', 'leeway']) {
      const value = fieldOf(jwt, name)
      if (value !== undefined) refuse(value, ' is checked by whoever verifies: expected none beside verified')
    }
    return readChoice(fieldOf(jwt, 'verified'), ['upstream']) === undefined ? undefined : { by: 'upstream' }
  }
  const place = way === 'jwksUrl' ? readText(fieldOf(jwt, way), URL_FORM, isKeyUrl) : readText(fieldOf(jwt, way), FILE_FORM)
  const allowed = way === 'secretFile' ? SECRET_ALGORITHMS : PUBLIC_ALGORITHMS
  const algorithms = readTexts(fieldOf(jwt, 'algorithms'), `of ${allowed.join(', ')}`, (text) => allowed.includes(text)) ?? allowed
  const issuer = readText(fieldOf(jwt, 'issuer'), 'the issuer of the tokens')
  const audience = readTexts(fieldOf(jwt, 'audience'), 'a text or a list of texts', (text) => text !== '')
  const leewayMs = toMillis(readDuration(fieldOf(jwt, 'leeway')) ?? 0)
  if (leewayMs > MAX_LEEWAY_MS) refuse({ ...jwt, path: join(jwt.path, 'leeway') }, ` is ${leewayMs} ms: expected at most 10m`)
  if (place === undefined) return undefined
  const checks = { algorithms, leewayMs, ...defined({ issuer, audience }) }
  if (way === 'jwksUrl') return { by: 'url', url: place, ...checks }
  return { by: way === 'secretFile' ? 'secret' : 'jwks', file: place, ...checks }
}

/** Whether a URL is safe to fetch keys from. Whoever could change keys on the wire could replace them by their own. */
function isKeyUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@\\#/][^\s@\\#]*$/i.test(text) || text.length > 2_048 || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
}
