import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { failed, usage } from '../cli/failure.ts'
import { readAs } from '../files/regular-file.ts'
import { Refusal } from './answer.ts'
import type { Handler, Route } from './routes.ts'
import { counter } from './service-metrics.ts'

const MIN_LENGTH = 16
const MAX_LENGTH = 4_096

export type Admission = (request: IncomingMessage) => boolean

/**
 * Reads the admin token from a file: the text of the file without surrounding whitespace.
 * @throws CommandFailure exit 1 if the file cannot be read, exit 3 if the token is not 16 to 4,096 printable characters
 */
export function readAdminToken(file: string): string {
  const text = readAs(`admin token file ${file}`, file, failed).toString('utf8').trim()
  if (!/^[!-~]*$/.test(text) || text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
    const wanted = `one line of ${MIN_LENGTH} to ${MAX_LENGTH} printable characters without blanks`
    throw usage(`admin token file ${file}: expected ${wanted}`)
  }
  return text
}

/**
 * Checks the bearer token of requests, and counts those that it refused. It compares digests in constant time, so the time does not show where tokens differ.
 * @param onWrong called for each wrong token; a request without one may come from a person in a browser
 */
export function adminAccess(token: string, onWrong: () => void = () => {}) {
  const wanted = digest(token)
  let [wrong, missing] = [0, 0]
  const refused = 'Requests that may not administer, by what they brought: a wrong token, or none.'
  return {
    admits({ headers: { authorization = '' } }: IncomingMessage) {
      const sent = /^bearer +([!-~]+) *$/i.exec(authorization)?.[1]
      if (timingSafeEqual(digest(sent ?? ''), wanted) && sent !== undefined) return true
      if (sent === undefined) missing += 1
      else {
        wrong += 1
        onWrong()
      }
      return false
    },
    metrics: [
      counter('sluice_admin_refused_total', refused, () => [
        { labels: { token: 'wrong' }, value: wrong },
        { labels: { token: 'missing' }, value: missing },
      ]),
    ],
  }
}

/** Makes a route that only the bearer of the admin token may use. */
export function guarded(admission: Admission | undefined, route: Exclude<Route, Handler>): Route {
  const guard =
    (handler: Handler): Handler =>
    (call) => {
      if (admission === undefined) throw new Refusal(403, 'Administration is off: start the service with --admin-token-file.')
      if (!admission(call.request)) {
        throw new Refusal(401, 'Administration needs the bearer token of --admin-token-file.', {}, [
          ['WWW-Authenticate', 'Bearer realm="sluice"'],
        ])
      }
      return handler(call)
    }
  return Object.fromEntries(Object.entries(route).map(([method, handler]) => [method, guard(handler)]))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
