import { canonicalHeader } from './descriptor.ts'
import { type Issues, join } from '../document/issues.ts'
import type { Field, MapNode, PolicyNode } from '../document/node.ts'
import type { Sliced } from '../model/sliced.ts'

/** A rule or fallback, its path, and the index of its policy. */
interface Placed {
  readonly node: MapNode
  readonly path: string
  readonly policy: number
}

/** A difference of one kind at its first place; `more` other places have it. */
interface Found {
  readonly at: number
  readonly text: string
  more: number
}

type Find = (kind: string, at: number, text: string) => void

/**
 * Warns of parts of a bundle of Fairvisor's Token Bucket that have another meaning here, once for each kind of difference. It examines
 * nodes as written, because their errors are reported by their own readers.
 */
export function* warnOfMoves(root: MapNode, issues: Issues): Sliced<void> {
  const found = new Map<string, Found>()
  const find: Find = (kind, at, text) => {
    const first = found.get(kind)
    if (first === undefined) found.set(kind, { at, text, more: 0 })
    else first.more += 1
  }
  const specs = specsOf(root)
  const placed: Placed[] = []
  // Policies apply in the order of their ids.
  const last = specs.reduce((latest, { id = '' }) => (id > latest ? id : latest), '')
  for (const [policy, { node, path, id }] of specs.entries()) {
    yield
    placed.push(...rulesOf(node, path, policy))
    if (id !== undefined && id !== last) findShadow(node, path, find)
    findSelector(node, path, find)
  }
  const counted = new Set(placed.flatMap(({ node }) => itemsOf(node, 'limit_keys').map(({ text }) => canonical(text))))
  const names = new Map<string, Placed>()
  for (const rule of placed) {
    yield
    findMissingKeys(rule, find)
    findUnseen(rule, counted, find)
    findCostCase(rule, find)
    findSharedName(rule, names, find)
  }
  for (const { at, text, more } of found.values())
    issues.warn(at, more === 0 ? text : `${text} (and in ${more} more place${more === 1 ? '' : 's'})`)
}

interface Spec {
  readonly node: MapNode
  readonly path: string
  readonly id: string | undefined
}

function specsOf(root: MapNode): Spec[] {
  const policies = valueOf(root, 'policies')
  if (policies?.kind !== 'list') return [{ node: root, path: '', id: undefined }]
  return policies.items.flatMap((item, index) => {
    const spec = valueOf(item, 'spec')
    return spec?.kind === 'map' ? { node: spec, path: `policies[${index}].spec`, id: textOf(valueOf(item, 'id')) ?? '' } : []
  })
}

function rulesOf(spec: MapNode, path: string, policy: number): Placed[] {
  const [rules, fallback] = [valueOf(spec, 'rules'), valueOf(spec, 'fallback_limit')]
  if (rules === undefined) return [{ node: spec, path, policy }]
  const items = rules.kind === 'list' ? [...rules.items.entries()] : []
  const found = items.map(([index, node]) => [node, join(path, 'rules') + `[${index}]`] as const)
  return [...found, ...(fallback === undefined ? [] : [[fallback, join(path, 'fallback_limit')] as const])].flatMap(([node, at]) =>
    node.kind === 'map' ? { node, path: at, policy } : [],
  )
}

function findShadow(spec: MapNode, path: string, find: Find): void {
  const mode = valueOf(spec, 'mode')
  if (textOf(mode) === 'shadow' && mode !== undefined)
    find(
      'shadow',
      mode.at,
      `${join(path, 'mode')}: the policies after it limit as well, and Fairvisor ends the evaluation at a policy in shadow`,
    )
}

function findSelector(spec: MapNode, path: string, find: Find): void {
  const selector = valueOf(spec, 'selector')
  const exact = valueOf(selector, 'pathExact')
  const at = join(path, 'selector')
  if (textOf(exact)?.startsWith('/') === true && exact !== undefined)
    find('exact', exact.at, `${at}.pathExact matches with any query, and Fairvisor compares the query as well`)
  const methods = selector?.kind === 'map' ? itemsOf(selector, 'methods') : []
  const get = methods.find(({ text }) => text === 'GET')
  if (get !== undefined && methods.every(({ text }) => text !== 'HEAD'))
    find('head', get.at, `${at}.methods: GET limits HEAD as well, and in Fairvisor it does not`)
}

function findMissingKeys({ node, path }: Placed, find: Find): void {
  for (const [index, { at, text }] of itemsOf(node, 'limit_keys').entries())
    if (/^(?:header|jwt|query):/.test(text))
      find(
        'missing',
        at,
        `${join(path, 'limit_keys')}[${index}]: requests without ${text} share one bucket, and Fairvisor skips the rule for them`,
      )
}

function findUnseen({ node, path }: Placed, counted: ReadonlySet<string>, find: Find): void {
  // The `match` of a fallback is ignored.
  const match = path.endsWith('fallback_limit') ? undefined : valueOf(node, 'match')
  for (const [name, { at }] of match?.kind === 'map' ? match.fields : new Map<string, Field>())
    if (!counted.has(canonical(name)))
      find(
        'unseen',
        at,
        `${join(join(path, 'match'), name)} is looked at, and Fairvisor never applies the rule: no limit_keys name ${name}`,
      )
}

function findCostCase({ node, path }: Placed, find: Find): void {
  const source = valueOf(valueOf(node, 'algorithm_config'), 'cost_source')
  const text = textOf(source)
  if (source !== undefined && text?.startsWith('header:') === true && text !== text.toLowerCase())
    find(
      'cost',
      source.at,
      `${join(join(path, 'algorithm_config'), 'cost_source')}: ${text} finds the header, and in Fairvisor, where its letters must be small, nothing`,
    )
}

function findSharedName(rule: Placed, names: Map<string, Placed>, find: Find): void {
  const name = valueOf(rule.node, 'name')
  const text = textOf(name)
  if (name === undefined || text === undefined) return
  const first = names.get(text)
  if (first === undefined) names.set(text, rule)
  else if (first.policy !== rule.policy)
    find('name', name.at, `${join(rule.path, 'name')} is that of ${first.path}, and they count apart: in Fairvisor they share counters`)
}

/** Header names ignore case and do not distinguish `-` and `_`. */
function canonical(descriptor: string): string {
  return descriptor.startsWith('header:') ? canonicalHeader(descriptor) : descriptor
}

function valueOf(node: PolicyNode | undefined, name: string): PolicyNode | undefined {
  return node?.kind === 'map' ? node.fields.get(name)?.value : undefined
}

function textOf(node: PolicyNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.type === 'text' ? node.text.slice(0, MAX_SHOWN_LENGTH) : undefined
}

const MAX_SHOWN_LENGTH = 128

function itemsOf(node: MapNode, name: string): { readonly at: number; readonly text: string }[] {
  const list = valueOf(node, name)
  return (list?.kind === 'list' ? list.items : []).flatMap((item) => ({ at: item.at, text: textOf(item) ?? '' }))
}
