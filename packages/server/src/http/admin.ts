import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from './answer.ts'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import { readRegular } from '../files/regular-file.ts'
import type { Handler, Route } from './routes.ts'

const MIN_LENGTH = 16
const MAX_LENGTH = 4_096

/** Decides whether a request may use the administration endpoints. */
export type Admission = (request: IncomingMessage) => boolean

/**
 * Reads the admin token from a file: the text of the file without surrounding whitespace.
 * @throws CommandFailure exit 1 if the file cannot be read, exit 3 if the token is not 16 to 4,096 printable characters
 */
export function readAdminToken(file: string): string {
  let text: string
  try {
    text = readRegular(file).toString('utf8').trim()
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `admin token file ${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  if (!/^[!-~]*$/.test(text) || text.length < MIN_LENGTH || text.length > MAX_LENGTH) {
    const wanted = `one line of ${MIN_LENGTH} to ${MAX_LENGTH} printable characters without blanks`
    throw new CommandFailure(EXIT.usage, `admin token file ${file}: expected ${wanted}`)
  }
  return text
}

/**
 * Checks the bearer token of a request. It compares digests in constant time, so the time does not show where tokens differ.
 * @param refused called for each refused request; `wrong` is whether the request had a token
 */
export function admits(token: string, refused: (wrong: boolean) => void = () => {}): Admission {
  const wanted = digest(token)
  return ({ headers: { authorization = '' } }) => {
    const given = /^bearer +([!-~]+) *$/i.exec(authorization)?.[1]
    const admitted = timingSafeEqual(digest(given ?? ''), wanted) && given !== undefined
    if (!admitted) refused(given !== undefined)
    return admitted
  }
}

/** Makes a route that only the bearer of the admin token may use. */
export function guarded(admission: Admission | undefined, route: Exclude<Route, Handler>): Route {
  const guard =
    (handler: Handler): Handler =>
    (asked) => {
      if (admission === undefined) throw new Refusal(403, 'Forbidden', 'Administration is off: start the service with --admin-token-file.')
      if (!admission(asked.request)) {
        throw new Refusal(401, 'Unauthorized', 'Administration needs the bearer token of --admin-token-file.', {}, [
          ['WWW-Authenticate', 'Bearer realm="sluice"'],
        ])
      }
      return handler(asked)
    }
  return Object.fromEntries(Object.entries(route).map(([method, handler]) => [method, guard(handler)]))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
