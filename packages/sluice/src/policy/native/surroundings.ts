import { LimiterError } from '../../errors/limiter-error.ts'
import { createNetworkSet } from '../../identity/network-set.ts'
import { readTrusted, TRUST_FORM, type TrustedProxies, trustNetworks } from '../../identity/trusted-proxies.ts'
import { type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { readJwt } from './jwt.ts'
import { readExempt } from './exempt.ts'
import { readOverrides } from './override.ts'
import { IDENTIFIER_MODES, IDENTIFIERS } from './grammar.ts'
import type { IdentifierChoice, PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { storeParameterMistake } from '../model/store-parameters.ts'
import { parseStoreUrl, STORE_FORM, type StoreUrl } from '../model/store-url.ts'

/** Reads the `store` of a policy. Messages do not show a wrong one, because it may contain a password. */
function readStore(fields: Fields, issues: Issues): StoreUrl | undefined {
  const node = fields.node('store')
  if (node === undefined) return undefined
  const text = node.kind === 'scalar' && node.type === 'text' ? node.text : ''
  const [store, mistake] = [parseStoreUrl(text), storeParameterMistake(text)]
  if (mistake !== undefined) issues.add(node.at, 'store', `store ${mistake}`)
  else if (store === undefined)
    issues.add(node.at, 'store', `store is not the URL of a store: expected ${STORE_FORM}`, { allowed: STORE_FORM })
  return store
}

/** Reads whether keys contain plain identifiers; undefined if the policy does not say. */
function readIdentifiers(fields: Fields, issues: Issues): IdentifierChoice | undefined {
  const node = fields.node('identifiers')
  const identifiers = node === undefined ? undefined : openFields(node, fields.pathOf('identifiers'), IDENTIFIERS, issues)
  if (identifiers === undefined) return undefined
  identifiers.require('mode', IDENTIFIER_MODES.join(' or '))
  const mode = identifiers.choice('mode', IDENTIFIER_MODES)
  const secretFile = identifiers.text('secretFile', 'the name of a file')
  if (mode === 'hmac') identifiers.require('secretFile', 'the name of a file with the secret')
  const superfluous = mode === 'plain' ? identifiers.node('secretFile') : undefined
  if (superfluous !== undefined)
    issues.add(
      superfluous.at,
      identifiers.pathOf('secretFile'),
      `${identifiers.pathOf('secretFile')} has no use in mode plain: expected mode hmac`,
    )
  if (mode === 'plain') return { mode }
  return mode === undefined || secretFile === undefined ? undefined : { mode, secretFile }
}

/** Reads the sections that every dialect may have in addition to its rules, in the same form. */
export function* readBeside(
  fields: Fields,
  rules: readonly Rule[],
  issues: Issues,
): Sliced<Pick<PolicyBody, 'exempt' | 'overrides' | 'identifiers' | 'jwt' | 'store' | 'storeUrl' | 'trustedProxies'>> {
  const storeUrl = readStore(fields, issues)
  const trustedProxies = yield* readTrustedProxies(fields, issues)
  const identifiers = readIdentifiers(fields, issues)
  const jwt = readJwt(fields, issues)
  const exempt = yield* readExempt(fields, issues)
  const overrides = yield* readOverrides(fields, rules, issues)
  return {
    ...(storeUrl === undefined ? {} : { store: storeUrl.url, storeUrl }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    ...(identifiers === undefined ? {} : { identifiers }),
    ...(jwt === undefined ? {} : { jwt }),
    ...(exempt.length === 0 ? {} : { exempt }),
    ...(overrides.length === 0 ? {} : { overrides }),
  }
}

/** Names of the sections that `readBeside` reads. */
export const BESIDE: readonly string[] = ['store', 'trustedProxies', 'identifiers', 'jwt', 'exempt', 'overrides']

/** Reads the `trustedProxies` of a policy; undefined if it has none. */
function* readTrustedProxies(fields: Fields, issues: Issues): Sliced<TrustedProxies | undefined> {
  const node = fields.node('trustedProxies')
  if (node === undefined) return undefined
  if (node.kind !== 'list') {
    issues.wrong(node, 'trustedProxies', `a list of ${TRUST_FORM}`)
    return undefined
  }
  const networks = createNetworkSet()
  yield* flatMapSliced(node.items, (item, index) => {
    const text = item.kind === 'scalar' && item.type === 'text' ? item.text : ''
    try {
      for (const network of readTrusted(text)) networks.add(network)
    } catch (error) {
      if (!(error instanceof LimiterError)) throw error
      const path = `trustedProxies[${index}]`
      if (text === '') issues.wrong(item, path, TRUST_FORM)
      else issues.add(item.at, path, `${path}: ${error.message}`, { value: JSON.stringify(text), allowed: TRUST_FORM })
    }
    return []
  })
  return trustNetworks(networks)
}
