import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from './answer.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { readRegular } from './regular-file.ts'
import type { Handler, Route } from './routes.ts'

const MIN_LENGTH = 16
const MAX_LENGTH = 4_096

/** Says whether a request may administer. */
export type Admission = (request: IncomingMessage) => boolean

/**
 * Reads the token of administration from a file: its text without the line end.
 * @throws CommandFailure exit 1 for a file that cannot be read, exit 3 for a token that is no use as one
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
 * Compares digests, which are of one length and tell nothing of where two tokens begin to differ.
 * @param refused called for each request that may not, with whether it brought a token
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

/** A route that only the bearer of the token may use. */
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
