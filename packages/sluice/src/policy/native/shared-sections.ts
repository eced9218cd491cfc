import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { createNetworkSet } from '../../identity/network.ts'
import { readTrusted, TRUST_FORM, type TrustedProxies, trustNetworks } from '../../identity/trusted-proxies.ts'
import type { Fields } from '../document/fields.ts'
import { textOf } from '../document/node.ts'
import { itemsOf, refuse, type Value, wrong } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { IdentifierChoice, PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { storeParameterMistake } from '../model/store-parameters.ts'
import { parseStoreUrl, STORE_FORM, type StoreUrl } from '../model/store-url.ts'
import { readExempt } from './exempt.ts'
import { IDENTIFIER_MODES, IDENTIFIERS } from './grammar.ts'
import { readJwt } from './jwt.ts'
import { readOverrides } from './override.ts'

/** Names of the sections that `readSharedSections` reads. */
export const SHARED_SECTIONS: readonly string[] = ['store', 'trustedProxies', 'identifiers', 'jwt', 'exempt', 'overrides']

/** Reads the sections that every dialect may have in addition to its rules, in the same form. */
export function* readSharedSections(
  fields: Fields,
  rules: readonly Rule[],
): Sliced<Pick<PolicyBody, 'exempt' | 'overrides' | 'identifiers' | 'jwt' | 'store' | 'storeUrl' | 'trustedProxies'>> {
  const storeUrl = readStore(fields.get('store'))
  const trustedProxies = yield* readTrustedProxies(fields.get('trustedProxies'))
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

/** Reads whether keys contain plain identifiers; undefined if the policy does not say. */
function readIdentifiers(policy: Fields): IdentifierChoice | undefined {
  const fields = policy.open('identifiers', IDENTIFIERS)
  if (fields === undefined) return undefined
  fields.require('mode', IDENTIFIER_MODES.join(' or '))
  const mode = fields.choice('mode', IDENTIFIER_MODES)
  const secretFile = fields.text('secretFile', 'the name of a file')
  if (mode === 'hmac') fields.require('secretFile', 'the name of a file with the secret')
  const superfluous = mode === 'plain' ? fields.get('secretFile') : undefined
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
