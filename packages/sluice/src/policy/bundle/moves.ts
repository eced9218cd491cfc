import { textOf, type Value } from '../document/value.ts'
import type { Sliced } from '../model/sliced.ts'
import { canonicalHeader } from './descriptor.ts'

interface Placed {
  readonly rule: Value
  readonly policy: number
}

type Find = (kind: string, value: Value, what: string) => void

/** Warns of parts that mean something else in Fairvisor's Token Bucket, once for each kind of difference. */
export function* warnOfMoves(root: Value): Sliced<void> {
  const found = new Map<string, { readonly value: Value; readonly what: string; more: number }>()
  const find: Find = (kind, value, what) => {
    const first = found.get(kind)
    if (first === undefined) found.set(kind, { value, what, more: 0 })
    else first.more += 1
  }
  const specs = specsOf(root)
  const placed: Placed[] = []
  // Fairvisor applies no policy after one in shadow mode, but Sluice does. For the policy with the last id this makes no difference.
  const last = specs.reduce((latest, { id = '' }) => (id > latest ? id : latest), '')
  for (const [policy, { spec, id }] of specs.entries()) {
    yield
    for (const rule of rulesOf(spec)) placed.push({ rule, policy })
    if (id !== undefined && id !== last) findShadow(spec.get('mode'), find)
    findSelector(spec.get('selector'), find)
  }
  const counted = new Set(placed.flatMap(({ rule }) => itemsIn(rule, 'limit_keys').map((item) => canonical(shortText(item) ?? ''))))
  const names = new Map<string, Placed>()
  for (const one of placed) {
    yield
    findMissingKeys(one.rule, find)
    findUnseen(one.rule, counted, find)
    findCostCase(one.rule, find)
    findSharedName(one, names, find)
  }
  for (const { value, what, more } of found.values())
    value.warn(more === 0 ? what : `${what} (and in ${more} more place${more === 1 ? '' : 's'})`)
}

function specsOf(root: Value): { readonly spec: Value; readonly id: string | undefined }[] {
  if (root.get('policies')?.node.kind !== 'list') return [{ spec: root, id: undefined }]
  return itemsIn(root, 'policies').flatMap((item) => {
    const spec = item.get('spec')
    return spec?.node.kind === 'map' ? { spec, id: shortText(item.get('id')) ?? '' } : []
  })
}

function rulesOf(spec: Value): Value[] {
  if (spec.get('rules') === undefined) return [spec]
  const [rules, fallback] = [itemsIn(spec, 'rules'), spec.get('fallback_limit')]
  if (fallback !== undefined) rules.push(fallback)
  return rules.filter(({ node }) => node.kind === 'map')
}

function findShadow(mode: Value | undefined, find: Find): void {
  if (mode !== undefined && textOf(mode.node) === 'shadow')
    find('shadow', mode, ': the policies after it limit as well, and Fairvisor ends the evaluation at a policy in shadow')
}

function findSelector(selector: Value | undefined, find: Find): void {
  const exact = selector?.get('pathExact')
  if (exact !== undefined && textOf(exact.node)?.startsWith('/') === true)
    find('exact', exact, ' matches with any query, and Fairvisor compares the query as well')
  const methods = itemsIn(selector, 'methods')
  const get = methods.find(({ node }) => textOf(node) === 'GET')
  if (selector !== undefined && get !== undefined && methods.every(({ node }) => textOf(node) !== 'HEAD'))
    find('head', get.at(`${selector.path}.methods`), ': GET limits HEAD as well, and in Fairvisor it does not')
}

function findMissingKeys(rule: Value, find: Find): void {
  for (const item of itemsIn(rule, 'limit_keys')) {
    const text = shortText(item) ?? ''
    if (/^(?:header|jwt|query):/.test(text))
      find('missing', item, `: requests without ${text} share one bucket, and Fairvisor skips the rule for them`)
  }
}

function findUnseen(rule: Value, counted: ReadonlySet<string>, find: Find): void {
  // The `match` of a fallback is ignored.
  const match = rule.path.endsWith('fallback_limit') ? undefined : rule.get('match')
  for (const { name, key } of match?.node.kind === 'map' ? match.entries() : [])
    if (!counted.has(canonical(name)))
      find('unseen', key, ` is compared here, and Fairvisor never applies the rule: no limit_keys name ${name}`)
}

function findCostCase(rule: Value, find: Find): void {
  const source = rule?.get('algorithm_config')?.get('cost_source')
  const text = shortText(source)
  if (source !== undefined && text?.startsWith('header:') === true && text !== text.toLowerCase())
    find('cost', source, `: ${text} finds the header, and in Fairvisor, where its letters must be small, nothing`)
}

function findSharedName(placed: Placed, names: Map<string, Placed>, find: Find): void {
  const name = placed.rule.get('name')
  const text = shortText(name)
  if (name === undefined || text === undefined) return
  const first = names.get(text)
  if (first === undefined) names.set(text, placed)
  else if (first.policy !== placed.policy)
    find('name', name, ` is that of ${first.rule.path}, and they count apart: in Fairvisor they share counters`)
}

function canonical(descriptor: string): string {
  return descriptor.startsWith('header:') ? canonicalHeader(descriptor) : descriptor
}

const MAX_SHOWN_LENGTH = 128

function shortText(value: Value | undefined): string | undefined {
  return textOf(value?.node)?.slice(0, MAX_SHOWN_LENGTH)
}

function itemsIn(value: Value | undefined, name: string): Value[] {
  return [...(value?.get(name)?.items() ?? [])]
}
