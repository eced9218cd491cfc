import { derived, firstOf, parseSource, type Source } from '../../identity/source.ts'
import type { PolicyNode } from '../document/node.ts'
import { openFields, openMap } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import type { KeyPart } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'

/** The identity and tier of tenants. */
export interface Tenancy {
  readonly identity: KeyPart
  /** Always has a value: the name of a tenant, or `default`. */
  readonly tier: Source
}

const source = (text: string): Source => parseSource(text) as Source

/**
 * Reads the identity and tier of tenants. The identity is the subject of a verified token, or the header that `identity` names, else the
 * address. The tier is the plan of a verified token, else the header's entry in `identity.tiers`, else the value of a trusted proxy.
 */
export function* readTenancy(
  found: { readonly node: PolicyNode; readonly path: string } | undefined,
  tenants: readonly string[],
  issues: Issues,
): Sliced<Tenancy> {
  const block = found === undefined ? undefined : openFields(found.node, found.path, { names: ['header', 'tiers'] }, issues)
  block?.require('header', 'the name of a header')
  const name = block?.text('header', 'the name of a header', (text) => parseSource(`header:${text}`) !== undefined)
  const header = name === undefined ? undefined : source(`header:${name}`)
  const tiersNode = block?.node('tiers')
  const tiers =
    tiersNode === undefined || block === undefined
      ? new Map<string, string>()
      : yield* readTiers(tiersNode, block.pathOf('tiers'), tenants, issues)
  const said = firstOf([
    source('jwt:plan'),
    ...(header === undefined ? [] : [mapped(header, tiers)]),
    fromTrustedProxy(source('header:x-tenant-tier')),
  ])
  const known = new Set(tenants)
  return {
    identity: [header ?? source('jwt:sub'), source('ip:address')],
    tier: derived(said, 'tier', (tier) => (tier !== undefined && known.has(tier) ? tier : 'default')),
  }
}

/** Reads `identity.tiers`. Its names are keys of clients, so no message shows one. */
function* readTiers(node: PolicyNode, path: string, tenants: readonly string[], issues: Issues): Sliced<Map<string, string>> {
  const tiers = new Map<string, string>()
  const known = new Set(tenants)
  for (const [index, [key, { value }]] of [...(openMap(node, path, issues)?.fields ?? [])].entries()) {
    yield
    if (value.kind === 'scalar' && known.has(value.text)) tiers.set(key, value.text)
    else issues.wrong(value, `${path}[${index}]`, `one of the tenants ${tenants.join(', ')}`)
  }
  return tiers
}

function mapped(from: Source, values: ReadonlyMap<string, string>): Source {
  return derived(from, from.text, (value) => values.get(value ?? ''))
}

function fromTrustedProxy(from: Source): Source {
  return derived(from, from.text, (value, { trustedPeer }) => (trustedPeer ? value : undefined))
}
