import type { RegionChoice } from 'sluice/policy'
import { failed, usage, wrongValue } from '../cli/failure.ts'
import type { ParsedArguments } from '../cli/verb.ts'
import { readAs } from '../files/regular-file.ts'
import { UNITS } from '../policy/region-facts.ts'
import type { RegionKeys } from './signatures.ts'

/** The policy's values apply where a value is absent. */
export interface RegionArguments {
  readonly self: string | undefined
  /** May include this region. */
  readonly peers: ReadonlyMap<string, URL> | undefined
  readonly weights: ReadonlyMap<string, number> | undefined
  readonly keyFile: string | undefined
  /** The flag or variable that gave a value, for messages. */
  called(name: string): string
}

export interface RegionOptions {
  readonly self: string
  readonly mode: RegionChoice['mode']
  /** Milliseconds, with mode `counters`; undefined: no cutoff. */
  readonly cutoffMs: number | undefined
  /** The names of the other regions. */
  readonly others: readonly string[]
  /** Thousandths of every limit, by region; undefined: equal weights. */
  readonly weights: Readonly<Record<string, number>> | undefined
  /** Addresses by name; empty with mode `fixed`. */
  readonly peers: ReadonlyMap<string, URL>
  /** Empty with mode `fixed`, because such regions do not call each other. */
  readonly keyFile: string
}

const NAME = /^[a-z\d](?:[\w.-]{0,62}[a-z\d])?$/i
const KEY = /^[!-~]{32,4096}$/
const MAX_KEYS = 4
const PEERS = 'NAME=URL,... with a name and the address of each region, such as us=https://us.limits.example'
const WEIGHTS = `NAME=N,... with the thousandths of every limit that each region has, such as eu=600,us=400, together at most ${UNITS}`

export const REGION_FLAGS = {
  'region NAME': 'the name of this region, if the policy has regions or --peers names others: together they never exceed the limits',
  'peers LIST':
    "all other regions, such as us=https://us.limits.example,ap=https://ap.limits.example; this one may be among them. Default the policy's",
  'region-weights LIST':
    "thousandths of every limit that each region has at first, such as eu=600,us=400; default the policy's, else equal",
  'region-key-file FILE':
    'the key that the regions share; while it is replaced, the file has the new and the old one. SIGHUP reads it again',
}

/** Undefined without arguments about regions. @throws CommandFailure exit 3 for a value that cannot be used */
export function regionArguments(args: ParsedArguments): RegionArguments | undefined {
  const [self, peers, weights, keyFile] = [
    args.text('region'),
    args.text('peers'),
    args.text('region-weights'),
    args.text('region-key-file'),
  ]
  if ([self, peers, weights, keyFile].every((value) => value === undefined)) return undefined
  if (self !== undefined && !NAME.test(self))
    throw wrongValue(args.called('region'), self, 'a name of letters, digits, dots, dashes and underscores')
  return {
    self,
    peers: peers === undefined ? undefined : peersIn(peers, args.called('peers')),
    weights: weights === undefined ? undefined : weightsIn(weights, args.called('region-weights')),
    keyFile,
    called: args.called,
  }
}

function peersIn(list: string, called: string): Map<string, URL> {
  const peers = new Map<string, URL>()
  for (const [part, name, url] of partsOf(list)) {
    if (!NAME.test(name) || peers.has(name)) throw wrongValue(called, part, PEERS)
    peers.set(name, addressOf(called, url))
  }
  return peers
}

function weightsIn(list: string, called: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [part, name, text] of partsOf(list)) {
    if (!NAME.test(name) || weights.has(name) || !/^\d{1,4}$/.test(text)) throw wrongValue(called, part, WEIGHTS)
    weights.set(name, Number(text))
  }
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0)
  if (sum < 1 || sum > UNITS) throw wrongValue(called, list, WEIGHTS)
  return weights
}

/** Name and value are empty for a part of another form. */
function partsOf(list: string): (readonly [part: string, name: string, value: string])[] {
  return list.split(',').map((part) => {
    const [, name = '', value = ''] = /^\s*([^=\s]+)=(\S+)\s*$/.exec(part) ?? []
    return [part, name, value] as const
  })
}

function addressOf(called: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (url === undefined || !plain) throw wrongValue(called, text, 'an http or https address without a query')
  if (url.username !== '' || url.password !== '')
    throw usage(`${called}: an address has a login; regions authenticate by --region-key-file`)
  return withSlash(url)
}

/** Without the final slash, relative paths would replace the last segment. */
export function withSlash(url: URL): URL {
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/**
 * One key in each line. The first signs; signatures by any are accepted.
 * @throws CommandFailure exit 1 if the file cannot be read, exit 3 for keys that cannot be used; no message shows a key
 */
export function readRegionKeys(file: string): RegionKeys {
  const what = `region key file ${file}`
  const text = readAs(what, file, failed).toString('utf8')
  const [first, ...others] = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (first !== undefined && others.length < MAX_KEYS && [first, ...others].every((key) => KEY.test(key))) return [first, ...others]
  throw usage(`${what}: expected 1 to ${MAX_KEYS} lines, each a key of 32 to 4096 printable characters without blanks`)
}
