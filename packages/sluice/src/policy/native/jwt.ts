import { toMillis } from '../../time/micros.ts'
import type { Fields } from '../document/fields.ts'
import { join, refuse } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { JwtChoice } from '../model/policy.ts'
import { JWT, PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from './grammar.ts'

const WAYS = ['secretFile', 'jwksFile', 'jwksUrl', 'verified'] as const
const URL_FORM = 'an https:// URL without credentials, or an http:// one of this machine (127.0.0.1, [::1], localhost)'
const MAX_LEEWAY_MS = 600_000

/** Reads the `jwt` of a policy; undefined if it has none. A wrong one is reported and gives undefined. */
export function readJwt(policy: Fields): JwtChoice | undefined {
  const jwt = policy.open('jwt', JWT)
  if (jwt === undefined) return undefined
  const ways = WAYS.filter((name) => jwt.get(name) !== undefined)
  const [way] = ways
  if (way === undefined || ways.length > 1)
    return refuse(jwt, ` has ${way === undefined ? 'none' : ways.join(' and ')}: expected one of ${WAYS.join(', ')}`)
  if (way === 'verified') {
    for (const name of ['algorithms', 'issuer', 'audience', 'leeway']) {
      const value = jwt.get(name)
      if (value !== undefined) refuse(value, ' is checked by whoever verifies: expected none beside verified')
    }
    return jwt.choice('verified', ['upstream']) === undefined ? undefined : { by: 'upstream' }
  }
  const place = way === 'jwksUrl' ? jwt.text(way, URL_FORM, isKeyUrl) : jwt.text(way, 'the name of a file')
  const allowed = way === 'secretFile' ? SECRET_ALGORITHMS : PUBLIC_ALGORITHMS
  const algorithms = jwt.texts('algorithms', `of ${allowed.join(', ')}`, (text) => allowed.includes(text)) ?? allowed
  const issuer = jwt.text('issuer', 'the issuer of the tokens')
  const audience = jwt.texts('audience', 'a text or a list of texts', (text) => text !== '')
  const leewayMs = toMillis(jwt.duration('leeway') ?? 0)
  if (leewayMs > MAX_LEEWAY_MS) refuse({ ...jwt, path: join(jwt.path, 'leeway') }, ` is ${leewayMs} ms: expected at most 10m`)
  if (place === undefined) return undefined
  const checks = { algorithms, leewayMs, ...defined({ issuer, audience }) }
  if (way === 'jwksUrl') return { by: 'url', url: place, ...checks }
  return { by: way === 'secretFile' ? 'secret' : 'jwks', file: place, ...checks }
}

/** Whether a URL is safe to fetch keys from. Whoever could change keys on the wire could replace them by their own. */
function isKeyUrl(text: string): boolean {
  const match = /^(https?):\/\/([^/?#]*)([^#]*)$/i.exec(text)
  if (match === null || /[\s@\\]/.test(text) || text.length > 2_048) return false
  const [, scheme = '', host = ''] = match
  if (!/^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)) return false
  return scheme.toLowerCase() === 'https' || /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?$/i.test(host)
}
