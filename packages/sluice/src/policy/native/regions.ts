import { MICROS_PER_MS } from '../../time/micros.ts'
import { textOf, type Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { REGION_MODES, REGION_NAME, REGION_UNITS, type RegionChoice, type RegionPeer } from '../model/region-choice.ts'
import { REGIONS } from './grammar.ts'

const NAME_FORM = 'a name of at most 64 letters, digits, dots, dashes and underscores, with a letter or digit at both ends'
const PEER_FORM = 'NAME or NAME=URL, such as us=https://us.limits.example'
const PEERS_FORM = `a list of 1 to ${REGION_UNITS} regions, each ${PEER_FORM}`
const WEIGHTS_FORM = `a map of regions, each with a whole number from 0 to ${REGION_UNITS}`
const MAX_URL_LENGTH = 2_048
/** Regions read each other about once a second. A shorter cutoff would cut off healthy regions. */
const [MIN_CUTOFF_MS, MAX_CUTOFF_MS] = [2_000, 86_400_000]

export function readRegions(policy: Value): RegionChoice | undefined {
  const fields = policy.get('regions')?.open(REGIONS)
  if (fields === undefined) return undefined
  const self = fields.get('self')?.text(NAME_FORM, (text) => REGION_NAME.test(text))
  const mode = fields.get('mode')?.choice(REGION_MODES) ?? 'escrow'
  const peers = readPeers(fields.get('peers'))
  const weights = readWeights(fields.get('weights'))
  if (fields.get('peers') === undefined && fields.get('weights') === undefined && !fields.issues.failed)
    fields.refuse(' has neither peers nor weights: expected one of them, with the names of the regions')
  const choice = { peers, mode, ...defined({ self, weights, cutoffMs: readCutoff(fields.get('cutoff'), mode) }) }
  refuseUnknown(fields, choice)
  return choice
}

function readCutoff(value: Value | undefined, mode: RegionChoice['mode']): number | undefined {
  const micros = value?.duration()
  if (value === undefined || micros === undefined) return undefined
  if (mode !== 'counters') return value.refuse(` is for mode counters, and the mode is ${mode}`)
  const ms = micros / MICROS_PER_MS
  return ms >= MIN_CUTOFF_MS && ms <= MAX_CUTOFF_MS ? ms : value.refuse(': expected 2 seconds to a day')
}

function readPeers(list: Value | undefined): RegionPeer[] {
  if (list?.node.kind === 'list' && list.node.items.length === 0) list.refuse(` is an empty list: expected ${PEERS_FORM}`)
  const known = new Set<string>()
  return [...(list?.items(PEERS_FORM, REGION_UNITS) ?? [])].flatMap((item): RegionPeer[] => {
    const text = textOf(item.node) ?? ''
    const [, name = '', url] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
    // No message shows an address: it may have a password.
    if (!REGION_NAME.test(name)) return item.refuse(` is not a region: expected ${PEER_FORM}`, { allowed: PEER_FORM }) ?? []
    if (url !== undefined && !isAddress(url))
      return item.refuse(` has no usable address for ${name}: expected http:// or https://, without login, query and fragment`) ?? []
    if (known.has(name)) return item.refuse(` names ${name} again: expected each region once`) ?? []
    known.add(name)
    return [{ name, ...defined({ url }) }]
  })
}

/** Refuses a login or query, which a log would have to hide. */
function isAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\\@?#]+$/.test(text) || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username + password + search + hash === ''
}

function readWeights(map: Value | undefined): RegionChoice['weights'] {
  if (map === undefined) return undefined
  if (map.node.kind !== 'map') return map.wrong(WEIGHTS_FORM)
  const weights: [string, number][] = []
  for (const { name, key, value } of map.entries()) {
    if (!REGION_NAME.test(name)) key.refuse(`: expected ${NAME_FORM}`)
    const weight = value.whole(0, REGION_UNITS)
    if (weight !== undefined) weights.push([name, weight])
  }
  const sum = weights.reduce((total, [, weight]) => total + weight, 0)
  const isRead = weights.length === map.node.fields.size
  if (isRead && (sum < 1 || sum > REGION_UNITS)) return map.refuse(` are ${sum} together: expected 1 to ${REGION_UNITS}`)
  return Object.freeze(Object.fromEntries(weights))
}

/** Such a region would have no weight or no address. */
function refuseUnknown(fields: Value, { self, peers, weights }: RegionChoice): void {
  const at = fields.get('weights')
  if (weights === undefined || at === undefined || fields.issues.failed) return
  const ofPeers = peers.map(({ name }) => name)
  const named = new Set(self === undefined ? ofPeers : [self, ...ofPeers])
  for (const name of named) if (!Object.hasOwn(weights, name)) at.refuse(` has no weight for ${name}: expected the weights of all regions`)
  if (peers.length === 0) return
  for (const { name, key } of at.entries()) if (!named.has(name)) key.refuse(': peers has no region of this name')
}
