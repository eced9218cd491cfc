import { MAX_HOLDERS } from '../../algorithms/concurrency.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { createNetworkSet } from '../../identity/network.ts'
import { readTrusted, TRUST_FORM, type TrustedProxies, trustNetworks } from '../../identity/trusted-proxies.ts'
import { join, textOf, type Value, warnOfBare } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { IdentifierChoice, JwtChoice, PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { parseStoreUrl, STORE_FORM, storeParameterMistake, type StoreUrl } from '../model/store-url.ts'
import { readExempt } from './exempt.ts'
import { IDENTIFIER_MODES, IDENTIFIERS, JWT, PUBLIC_ALGORITHMS, RESERVATIONS, SECRET_ALGORITHMS } from './grammar.ts'
import { type Micros, toMillis } from '../../time/micros.ts'
import { readOverrides } from './override.ts'
import { readRegions } from './regions.ts'

export const SHARED_SECTIONS = ['store', 'regions', 'trustedProxies', 'identifiers', 'reservations', 'jwt', 'exempt', 'overrides'] as const

export function* readSharedSections(
  fields: Value,
  rules: readonly Rule[],
  now: Micros,
): Sliced<
  Pick<PolicyBody, 'exempt' | 'overrides' | 'identifiers' | 'regions' | 'reservations' | 'jwt' | 'store' | 'storeUrl' | 'trustedProxies'>
> {
  const storeUrl = readStore(fields.get('store'))
  const regions = readRegions(fields)
  const trustedProxies = yield* readTrustedProxies(fields.get('trustedProxies'))
  const identifiers = readIdentifiers(fields)
  const reservations = readReservations(fields)
  const jwt = readJwt(fields)
  const exempt = yield* readExempt(fields)
  const overrides = yield* readOverrides(fields, rules, now)
  return defined({ store: storeUrl?.url, storeUrl, regions, trustedProxies, identifiers, reservations, jwt, exempt, overrides })
}

/** A wrong URL is not shown, because it may contain a password. */
function readStore(value: Value | undefined): StoreUrl | undefined {
  if (value === undefined) return undefined
  const text = textOf(value.node) ?? ''
  const mistake = storeParameterMistake(text)
  if (mistake !== undefined) return value.refuse(` ${mistake}`)
  return parseStoreUrl(text) ?? value.refuse(` is not the URL of a store: expected ${STORE_FORM}`, { allowed: STORE_FORM })
}

const FILE_FORM = 'the name of a file'

function readIdentifiers(policy: Value): IdentifierChoice | undefined {
  const fields = policy.get('identifiers')?.open(IDENTIFIERS)
  if (fields === undefined) return undefined
  const mode = fields.require('mode', IDENTIFIER_MODES.join(' or '))?.choice(IDENTIFIER_MODES)
  const secretFile = fields.get('secretFile')?.text(FILE_FORM)
  if (mode === 'hmac') fields.require('secretFile', 'the name of a file with the secret')
  if (mode === 'plain') fields.get('secretFile')?.refuse(' has no use in mode plain: expected mode hmac')
  if (mode === 'plain') return { mode }
  return mode === undefined || secretFile === undefined ? undefined : { mode, secretFile }
}

function readReservations(policy: Value): PolicyBody['reservations'] {
  const section = policy.get('reservations')
  const fields = section?.open(RESERVATIONS)
  if (section === undefined || fields === undefined) return undefined
  const secretFile = fields.get('secretFile')?.text(FILE_FORM)
  const maxHolds = fields.get('maxHolds')?.whole(1, MAX_HOLDERS)
  const isEmpty = RESERVATIONS.names.every((name) => fields.get(name) === undefined)
  return isEmpty ? section.refuse(` has none: expected ${RESERVATIONS.names.join(' or ')}`) : defined({ secretFile, maxHolds })
}

function* readTrustedProxies(list: Value | undefined): Sliced<TrustedProxies | undefined> {
  if (list === undefined) return undefined
  const networks = createNetworkSet()
  for (const item of list.items(`a list of ${TRUST_FORM}`)) {
    yield
    const text = textOf(item.node) ?? ''
    const trusted = attempt(() => readTrusted(text))
    if (!(trusted instanceof LimiterError)) for (const network of trusted) networks.add(network)
    else if (text === '') item.wrong(TRUST_FORM)
    else item.refuse(`: ${trusted.message}`, { value: JSON.stringify(text), allowed: TRUST_FORM })
  }
  return trustNetworks(networks)
}

const WAYS = ['secretFile', 'jwksFile', 'jwksUrl', 'verified'] as const
const URL_FORM = 'an https:// URL without credentials, or an http:// one of this machine (127.0.0.1, [::1], localhost)'
const MAX_LEEWAY_MS = 600_000

function readJwt(policy: Value): JwtChoice | undefined {
  const jwt = policy.get('jwt')?.open(JWT)
  if (jwt === undefined) return undefined
  const ways = WAYS.filter((name) => jwt.get(name) !== undefined)
  const [way] = ways
  if (way === undefined || ways.length > 1)
    return jwt.refuse(` has ${way === undefined ? 'none' : ways.join(' and ')}: expected one of ${WAYS.join(', ')}`)
  if (way === 'verified') {
    for (const name of ['algorithms', 'issuer', 'audience', 'leeway'])
      jwt.get(name)?.refuse(' is checked by whoever verifies: expected none with verified')
    return jwt.get('verified')?.choice(['upstream']) === undefined ? undefined : { by: 'upstream' }
  }
  const place = way === 'jwksUrl' ? jwt.get(way)?.hiddenText(URL_FORM, isKeyUrl) : jwt.get(way)?.text(FILE_FORM)
  const allowed = way === 'secretFile' ? SECRET_ALGORITHMS : PUBLIC_ALGORITHMS
  const algorithms = jwt.get('algorithms')?.texts(`of ${allowed.join(', ')}`, (text) => allowed.includes(text)) ?? allowed
  const issuer = jwt.get('issuer')?.text('the issuer of the tokens')
  const audience = jwt.get('audience')?.texts('a text or a list of texts', (text) => text !== '')
  warnOfBare(jwt.get('leeway'))
  const leewayMs = toMillis(jwt.get('leeway')?.duration() ?? 0)
  if (leewayMs > MAX_LEEWAY_MS) jwt.at(join(jwt.path, 'leeway')).refuse(` is ${leewayMs} ms: expected at most 10m`)
  if (place === undefined) return undefined
  const checks = { algorithms, leewayMs, ...defined({ issuer, audience }) }
  if (way === 'jwksUrl') return { by: 'url', url: place, ...checks }
  return { by: way === 'secretFile' ? 'secret' : 'jwks', file: place, ...checks }
}

/** Over plain http, somebody on the network could replace the keys. */
function isKeyUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@\\#/][^\s@\\#]*$/i.test(text) || text.length > 2_048 || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
}
