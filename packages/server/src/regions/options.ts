import { failed, usage, wrongValue } from '../cli/failure.ts'
import type { ParsedArguments } from '../cli/verb.ts'
import { readAs } from '../files/regular-file.ts'
import type { RegionKeys } from './signatures.ts'

/** What the command line says about regions. */
export interface RegionOptions {
  readonly self: string
  /** The addresses of the other regions' services, by name. */
  readonly peers: ReadonlyMap<string, URL>
  readonly keyFile: string
}

const NAME = /^[a-z\d](?:[\w.-]{0,62}[a-z\d])?$/i
const KEY = /^[!-~]{32,4096}$/
const MAX_KEYS = 4
const PEERS = 'NAME=URL,... with a name and the address of each other region, such as us=https://us.limits.example'

export const REGION_FLAGS = {
  'region NAME': 'the name of this region: together with the regions of --peers, this service never exceeds the limits',
  'peers LIST': 'the other regions, such as us=https://us.limits.example,ap=https://ap.limits.example',
  'region-key-file FILE':
    'the key that the regions share; while it is replaced, the file has the new and the old one. SIGHUP reads it again',
}

/** The options of regions; undefined without them. @throws CommandFailure exit 3 for a value that cannot be used, or if one is missing */
export function regionOptions(args: ParsedArguments, workers: number): RegionOptions | undefined {
  const [self, list, keyFile] = [args.text('region'), args.text('peers'), args.text('region-key-file')]
  if (self === undefined && list === undefined && keyFile === undefined) return undefined
  if (self === undefined || list === undefined || keyFile === undefined)
    throw usage('serve: --region, --peers and --region-key-file belong together: give all of them')
  if (!NAME.test(self)) throw wrongValue(args.called('region'), self, 'a name of letters, digits, dots, dashes and underscores')
  if (workers > 1) throw usage('serve: --region needs one process: what a region holds cannot be shared by workers in this version')
  const peers = new Map<string, URL>()
  for (const part of list.split(',')) {
    const [, name = '', url = ''] = /^\s*([^=\s]+)=(\S+)\s*$/.exec(part) ?? []
    if (!NAME.test(name) || name === self || peers.has(name)) throw wrongValue(args.called('peers'), part, PEERS)
    peers.set(name, addressOf(args.called('peers'), url))
  }
  return { self, peers, keyFile }
}

function addressOf(called: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (url === undefined || !plain) throw wrongValue(called, text, 'an http or https address without a query')
  if (url.username !== '' || url.password !== '')
    throw usage(`${called}: an address has a login; regions authenticate by --region-key-file`)
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/**
 * Reads the keys, one in each line: the first signs.
 * @throws CommandFailure exit 1 if the file cannot be read, exit 3 for a key that is too short; no message shows a key
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
