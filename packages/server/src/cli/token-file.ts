import { readAs, type ReadOptions } from '../files/regular-file.ts'
import { failed, usage } from './failure.ts'

const TOKEN = /^[!-~]{1,8192}$/

/**
 * Reads a bearer token. One that no header can carry is refused here, because the error of `fetch` would show it.
 * @param what the file, for messages
 * @throws CommandFailure exit 3 for an invalid token, exit 1 for a file that cannot be read
 */
export function readToken(what: string, file: string, options?: ReadOptions): string {
  const text = readAs(what, file, failed, options).toString('utf8').trim()
  if (TOKEN.test(text)) return text
  throw usage(`${what}: expected one line of at most 8192 printable characters without blanks`)
}
