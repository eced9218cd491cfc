import { toMillis } from '../../time/micros.ts'
import { type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { JWT, PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from './grammar.ts'

/** How the tokens of requests are verified. File names are relative to the policy's folder. */
export type JwtChoice =
  | ({ readonly by: 'secret'; readonly file: string } & JwtChecks)
  | ({ readonly by: 'jwks'; readonly file: string } & JwtChecks)
  | ({ readonly by: 'url'; readonly url: string } & JwtChecks)
  /** An upstream proxy has verified the tokens, so they are only decoded. */
  | { readonly by: 'upstream' }

export interface JwtChecks {
  /** Accepted signature algorithms; never `none`. */
  readonly algorithms: readonly string[]
  readonly issuer?: string
  /** The token's audience must include one of these. */
  readonly audience?: readonly string[]
  /** Milliseconds that clocks may differ by. */
  readonly leewayMs: number
}

const WAYS = ['secretFile', 'jwksFile', 'jwksUrl', 'verified'] as const
const FILE = 'the name of a file'
const URL_FORM = 'an https:// URL without credentials, or an http:// one of this machine (127.0.0.1, [::1], localhost)'
const MAX_LEEWAY_MS = 600_000

/** Reads the `jwt` of a policy; undefined if it has none. A wrong one is reported and gives undefined. */
export function readJwt(fields: Fields, issues: Issues): JwtChoice | undefined {
  const node = fields.node('jwt')
  const jwt = node === undefined ? undefined : openFields(node, fields.pathOf('jwt'), JWT, issues)
  if (node === undefined || jwt === undefined) return undefined
  const ways = WAYS.filter((name) => jwt.node(name) !== undefined)
  if (ways.length !== 1) {
    issues.add(node.at, jwt.path, `${jwt.path} has ${ways.length === 0 ? 'none' : ways.join(' and ')}: expected one of ${WAYS.join(', ')}`)
    return undefined
  }
  const [way] = ways
  if (way === 'verified') {
    for (const name of ['algorithms', 'issuer', 'audience', 'leeway'])
      if (jwt.node(name) !== undefined)
        issues.add(
          jwt.node(name)?.at ?? node.at,
          jwt.pathOf(name),
          `${jwt.pathOf(name)} is checked by whoever verifies: expected none beside verified`,
        )
    return jwt.choice('verified', ['upstream']) === undefined ? undefined : { by: 'upstream' }
  }
  const secret = way === 'secretFile'
  const place = way === 'jwksUrl' ? jwt.text(way, URL_FORM, isKeyUrl) : jwt.text(way as string, FILE)
  const allowed = secret ? SECRET_ALGORITHMS : PUBLIC_ALGORITHMS
  const algorithms = jwt.texts('algorithms', `of ${allowed.join(', ')}`, (text) => allowed.some((one) => one === text)) ?? allowed
  const issuer = jwt.text('issuer', 'the issuer of the tokens')
  const audience = jwt.texts('audience', 'a text or a list of texts', (text) => text !== '')
  const leeway = jwt.duration('leeway')
  const leewayMs = leeway === undefined ? 0 : toMillis(leeway)
  if (leewayMs > MAX_LEEWAY_MS) issues.add(node.at, jwt.pathOf('leeway'), `${jwt.pathOf('leeway')} is ${leewayMs} ms: expected at most 10m`)
  if (place === undefined) return undefined
  const checks = { algorithms, leewayMs, ...(issuer === undefined ? {} : { issuer }), ...(audience === undefined ? {} : { audience }) }
  return way === 'jwksUrl' ? { by: 'url', url: place, ...checks } : { by: secret ? 'secret' : 'jwks', file: place, ...checks }
}

/** Whether a URL is safe to fetch keys from. Whoever could change keys on the wire could replace them by their own. */
function isKeyUrl(text: string): boolean {
  const match = /^(https?):\/\/([^/?#]*)([^#]*)$/i.exec(text)
  if (match === null || /[\s@\\]/.test(text) || text.length > 2_048) return false
  const [, scheme = '', host = ''] = match
  if (!/^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)) return false
  return scheme.toLowerCase() === 'https' || /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?$/i.test(host)
}
