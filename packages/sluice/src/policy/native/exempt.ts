import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { createNetworkSet, type Network, NETWORK_FORM, parseNetwork } from '../../identity/network.ts'
import { parseSource } from '../../identity/source.ts'
import { isEmptyMap, quoted, textOf, type Value, wordOf } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { Exemption, HeaderText } from '../model/exemption.ts'
import { eachSliced, flatMapSliced, type Sliced } from '../model/sliced.ts'
import { EXEMPT } from './grammar.ts'
import { readPath } from './match.ts'

const MAX_EXEMPTIONS = 1_000
const EVERYBODY = 'a network of everybody would leave nobody to be limited'

/** Undefined without exemptions. */
export function* readExempt(fields: Value): Sliced<Exemption[] | undefined> {
  const items = fields.get('exempt')?.items(`a list of { path, ip, header }, at most ${MAX_EXEMPTIONS}`, MAX_EXEMPTIONS)
  const exempt = yield* eachSliced(items, readExemption)
  return exempt.length === 0 ? undefined : exempt
}

function* readExemption(value: Value): Sliced<Exemption | undefined> {
  const fields = value.open(EXEMPT)
  if (fields === undefined) return undefined
  const paths = yield* listed(fields.get('path'), readPath)
  const networks = createNetworkSet()
  const listedNetworks = yield* listed(fields.get('ip'), (item) => {
    const network = readNetwork(item)
    if (network !== undefined) networks.add(network)
    return network
  })
  const headers = yield* readHeaders(fields.get('header'))
  if (paths === undefined && listedNetworks === undefined && headers === undefined)
    return value.refuse(' says nothing: expected path, ip, header, or several of them')
  const text = [
    ...(paths === undefined ? [] : [`path ${paths.map((glob) => glob.text).join(' or ')}`]),
    ...(listedNetworks === undefined ? [] : ['its address']),
    ...(headers ?? []).map(({ source }) => source.text),
  ].join(' and ')
  return { text, ...defined({ paths, networks: listedNetworks && networks, headers }) }
}

/** An empty list is read as an empty value, which is reported. */
function* listed<T extends object>(value: Value | undefined, read: (item: Value) => T | undefined): Sliced<T[] | undefined> {
  if (value === undefined) return undefined
  const items = value.node.kind === 'list' ? [...value.items()] : [value]
  const none = value.at(`${value.path}[0]`).with({ kind: 'scalar', at: value.node.at, text: '', type: 'null' })
  return yield* flatMapSliced(items.length === 0 ? [none] : items, (item) => read(item) ?? [])
}

function readNetwork(value: Value): Network | undefined {
  const text = textOf(value.node)
  if (text === undefined) return value.wrong(NETWORK_FORM)
  const network = attempt(() => parseNetwork(text, NETWORK_FORM, EVERYBODY))
  if (!(network instanceof LimiterError)) return network
  return value.refuse(` is ${quoted(text)}: ${network.message}`, { allowed: NETWORK_FORM })
}

/** Such headers count only if a trusted proxy sends them. */
function* readHeaders(map: Value | undefined): Sliced<HeaderText[] | undefined> {
  if (map === undefined) return undefined
  if (isEmptyMap(map.node)) map.refuse(' is empty: expected names of headers with the text each must have')
  const headers = yield* flatMapSliced(map.entries(), ({ name, key, value }) => {
    const source = parseSource(`header:${name}`)
    if (source === undefined) key.at(map.path).refuse(` is ${quoted(name)}: expected the name of a header`)
    const text = wordOf(value.node) ?? value.wrong('the text the header must have')
    return source === undefined || text === undefined ? [] : { source, value: text }
  })
  return map.node.kind === 'map' ? headers : undefined
}
