import { derived, firstOf, parseSource, type Source } from '../../identity/source.ts'
import type { Value } from '../document/value.ts'
import type { KeyPart } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'

export interface Tenancy {
  readonly identity: KeyPart
  /** Always has a value: the name of a tenant, or `default`. */
  readonly tier: Source
  readonly named: ReadonlySet<string>
}

const HEADER_FORM = 'the name of a header'

const source = (text: string): Source => parseSource(text) as Source

/**
 * The identity is the configured header, or without one the subject of a verified token; if absent, the address.
 * The tier names a tenant: the claim `plan`, else the entry in `tiers` for the header's value, else `x-tenant-tier` of a trusted proxy.
 */
export function* readTenancy(block: Value | undefined, tenants: readonly string[]): Sliced<Tenancy> {
  const fields = block?.open({ names: ['header', 'tiers'] })
  const name = fields?.require('header', HEADER_FORM)?.text(HEADER_FORM, (text) => parseSource(`header:${text}`) !== undefined)
  const header = name === undefined ? undefined : source(`header:${name}`)
  const known = new Set(tenants)
  const tiers = yield* readTiers(fields?.get('tiers'), known)
  const proxied = source('header:x-tenant-tier')
  const tier = firstOf([
    source('jwt:plan'),
    ...(header === undefined ? [] : [derived(header, header.text, (value) => tiers.get(value ?? ''))]),
    derived(proxied, proxied.text, (value, { trustedPeer }) => (trustedPeer ? value : undefined)),
  ])
  return {
    identity: [header ?? source('jwt:sub'), source('ip:address')],
    tier: derived(tier, 'tier', (value) => (value !== undefined && known.has(value) ? value : 'default')),
    named: new Set(tiers.values()),
  }
}

/** The names identify clients, so no message shows one. */
function* readTiers(map: Value | undefined, tenants: ReadonlySet<string>): Sliced<ReadonlyMap<string, string>> {
  const tiers = new Map<string, string>()
  for (const [index, { name, value }] of [...(map?.entries() ?? [])].entries()) {
    yield
    if (value.node.kind === 'scalar' && tenants.has(value.node.text)) tiers.set(name, value.node.text)
    else value.at(`${map?.path}[${index}]`).wrong(`one of the tenants ${[...tenants].join(', ')}`)
  }
  return tiers
}
