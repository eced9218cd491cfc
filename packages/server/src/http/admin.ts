import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { failed, usage } from '../cli/failure.ts'
import { readAs } from '../files/regular-file.ts'
import { Refusal } from './answer.ts'
import type { Handler, Route } from './routes.ts'
import { counter } from './service-metrics.ts'

const TOKEN = /^[!-~]{16,4096}$/
const CHALLENGE = [['WWW-Authenticate', 'Bearer realm="sluice"']] as const

export type Admission = (request: IncomingMessage) => boolean

/** @throws CommandFailure exit 1 if the file cannot be read, exit 3 if the token is not 16 to 4,096 printable characters */
export function readAdminToken(file: string): string {
  const text = readAs(`admin token file ${file}`, file, failed).toString('utf8').trim()
  if (TOKEN.test(text)) return text
  throw usage(`admin token file ${file}: expected one line of 16 to 4096 printable characters without blanks`)
}

/**
 * Compares digests in constant time, so the time does not show where a wrong token differs.
 * @param onWrong not called for a missing token, because that request may come from a person in a browser
 */
export function adminAccess(token: string, onWrong: () => void = () => {}) {
  const wanted = digest(token)
  const refused = { wrong: 0, missing: 0 }
  const help = 'Requests that may not administer, by what they brought: a wrong token, or none.'
  const read = () => Object.entries(refused).map(([sent, value]) => ({ labels: { token: sent }, value }))
  return {
    admits({ headers: { authorization = '' } }: IncomingMessage) {
      const sent = /^bearer +([!-~]+) *$/i.exec(authorization)?.[1]
      if (timingSafeEqual(digest(sent ?? ''), wanted) && sent !== undefined) return true
      refused[sent === undefined ? 'missing' : 'wrong'] += 1
      if (sent !== undefined) onWrong()
      return false
    },
    metrics: [counter('sluice_admin_refused_total', help, read)],
  }
}

export function guarded(admission: Admission | undefined, route: Exclude<Route, Handler>): Route {
  const admit = (request: IncomingMessage): void => {
    if (admission === undefined) throw new Refusal(403, 'Administration is off: start the service with --admin-token-file.')
    if (!admission(request)) throw new Refusal(401, 'Administration needs the bearer token of --admin-token-file.', {}, CHALLENGE)
  }
  const guard =
    (handler: Handler): Handler =>
    (call) => {
      admit(call.request)
      return handler(call)
    }
  return Object.fromEntries(Object.entries(route).map(([method, handler]) => [method, guard(handler)]))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
