import { LimiterError } from '../../errors/limiter-error.ts'
import { type Network, NETWORK_FORM, parseNetwork } from '../../identity/network.ts'
import { createNetworkSet } from '../../identity/network-set.ts'
import { parseSource, type Source } from '../../identity/source.ts'
import type { Exemption, HeaderText } from '../model/exemption.ts'
import { type Fields, openFields, openMap } from '../document/fields.ts'
import type { Glob } from '../model/glob.ts'
import { type Issues, join } from '../document/issues.ts'
import { readPath } from './match.ts'
import { EXEMPT } from './grammar.ts'
import type { PolicyNode } from '../document/node.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

const MAX_EXEMPTIONS = 1_000
const FORM = 'a list of { path, ip, header }'
const EVERYBODY = 'a network of everybody would leave nobody to be limited'

/** Reads the `exempt` of a policy or of one rule; default empty. */
export function* readExempt(fields: Fields, issues: Issues): Sliced<Exemption[]> {
  const node = fields.node('exempt')
  if (node === undefined) return []
  if (node.kind !== 'list' || node.items.length > MAX_EXEMPTIONS) {
    issues.wrong(node, fields.pathOf('exempt'), `${FORM}, at most ${MAX_EXEMPTIONS}`)
    return []
  }
  const exempt: Exemption[] = []
  for (const [index, item] of node.items.entries()) {
    const one = yield* readOne(item, `${fields.pathOf('exempt')}[${index}]`, issues)
    if (one !== undefined) exempt.push(one)
  }
  return exempt
}

function* readOne(node: PolicyNode, path: string, issues: Issues): Sliced<Exemption | undefined> {
  yield
  const fields = openFields(node, path, EXEMPT, issues)
  if (fields === undefined) return undefined
  const paths = yield* listed(fields, 'path', (item, at) => readPath(item, at, issues))
  const set = createNetworkSet()
  const networks = yield* listed(fields, 'ip', (item, at) => {
    const network = readNetwork(item, at, issues)
    if (network !== undefined) set.add(network)
    return network
  })
  const headers = yield* readHeaders(fields, issues)
  if (paths === undefined && networks === undefined && headers === undefined) {
    issues.add(node.at, path, `${path} says nothing: expected path, ip, header, or several of them`)
    return undefined
  }
  const text = [
    ...(paths === undefined ? [] : [`path ${paths.map((glob) => glob.text).join(' or ')}`]),
    ...(networks === undefined ? [] : ['its address']),
    ...(headers === undefined ? [] : headers.map(({ source }) => source.text)),
  ].join(' and ')
  return {
    text,
    ...(paths === undefined ? {} : { paths }),
    ...(networks === undefined ? {} : { networks: set }),
    ...(headers === undefined ? {} : { headers }),
  }
}

function* listed<T extends Glob | Network>(
  fields: Fields,
  name: string,
  read: (item: PolicyNode, path: string) => T | undefined,
): Sliced<T[] | undefined> {
  const node = fields.node(name)
  if (node === undefined) return undefined
  if (node.kind !== 'list') return [read(node, fields.pathOf(name)) ?? []].flat() as T[]
  const items = node.items.length === 0 ? [{ kind: 'scalar', at: node.at, text: '', type: 'null' } as const] : node.items
  return yield* flatMapSliced(items, (item, index) => read(item, `${fields.pathOf(name)}[${index}]`) ?? [])
}

function readNetwork(node: PolicyNode, path: string, issues: Issues): Network | undefined {
  const text = node.kind === 'scalar' && node.type === 'text' ? node.text : undefined
  if (text === undefined) {
    issues.wrong(node, path, NETWORK_FORM)
    return undefined
  }
  try {
    return parseNetwork(text, NETWORK_FORM, EVERYBODY)
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error
    issues.add(node.at, path, `${path} is ${JSON.stringify(text.slice(0, 60))}: ${error.message}`, { allowed: NETWORK_FORM })
    return undefined
  }
}

/** Reads the headers of an exemption: each must have this text. They are accepted only from a trusted proxy. */
function* readHeaders(fields: Fields, issues: Issues): Sliced<HeaderText[] | undefined> {
  const node = fields.node('header')
  if (node === undefined) return undefined
  const path = fields.pathOf('header')
  const map = openMap(node, path, issues)
  if (map === undefined) return undefined
  if (map.fields.size === 0) issues.add(node.at, path, `${path} is empty: expected names of headers with the text each must have`)
  return yield* flatMapSliced(map.fields, ([name, { at, value }]) => {
    const source: Source | undefined = parseSource(`header:${name}`)
    if (source === undefined) issues.add(at, path, `${path} is ${JSON.stringify(name.slice(0, 60))}: expected the name of a header`)
    if (value.kind !== 'scalar' || value.type === 'null') issues.wrong(value, join(path, name), 'the text the header must have')
    return source === undefined || value.kind !== 'scalar' ? [] : [{ source, value: value.text }]
  })
}
