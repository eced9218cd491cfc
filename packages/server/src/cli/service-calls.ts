import { failed, unreachable, usage } from './failure.ts'
import { readToken } from './token-file.ts'

/** Milliseconds that a service may take to answer. */
const MAX_WAIT_MS = 10_000

export const DEFAULT_URL = 'http://127.0.0.1:8080'

export interface ServiceCalls {
  /** For messages. */
  readonly name: string
  /** Behind a proxy the service's URL may have a path, which is put before `path`. */
  at(path: string): URL
  /**
   * Undefined if the answer is empty.
   * @throws CommandFailure exit 2 if the service cannot be reached, exit 1 if it refuses, or answers anything but JSON
   */
  call(method: string, place: URL, body?: object): Promise<unknown>
}

/**
 * @param called the flag or variable that gave the address, for messages
 * @throws CommandFailure exit 3 for an invalid address or token, exit 1 for a token file that cannot be read
 */
export function serviceCalls(url: string, tokenFile: string | undefined, called: string): ServiceCalls {
  const base = baseOf(url, called)
  const admin =
    tokenFile === undefined ? {} : { Authorization: `Bearer ${readToken(`token file ${tokenFile}`, tokenFile, { pipes: true })}` }
  const headers = { 'Content-Type': 'application/json', ...admin }
  return {
    name: base.origin,
    at: (path) => new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base),
    async call(method, place, body) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const { status, ok, text } = await fetched(base.origin, place, { method, headers, ...sent })
      if (!ok) throw failed(`service ${base.origin} answered ${status}: ${reasonIn(text)}`)
      try {
        return text === '' ? undefined : JSON.parse(text)
      } catch (error) {
        throw failed(`service ${base.origin} answered what is not JSON: is it a Sluice?`, { cause: error })
      }
    },
  }
}

function baseOf(url: string, called: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (base !== undefined && /^https?:$/.test(base.protocol) && base.username === '' && base.password === '') return base
  throw usage(`${called} is not an address of a service: expected http://HOST:PORT or https://..., without credentials`)
}

async function fetched(origin: string, place: URL, request: RequestInit) {
  try {
    const answer = await fetch(place, { ...request, redirect: 'error', signal: AbortSignal.timeout(MAX_WAIT_MS) })
    return { status: answer.status, ok: answer.ok, text: await answer.text() }
  } catch (error) {
    const { cause, message, name } = error as Error
    // An AggregateError (a host with several addresses) has no reason; its errors have one each.
    const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause]
    const reason = [first, cause].find((one) => one instanceof Error)?.message ?? message
    const why = name === 'TimeoutError' ? `no answer within ${MAX_WAIT_MS / 1_000} s` : reason
    throw unreachable(`service ${origin} cannot be reached: ${why}`, { cause: error })
  }
}

/** A problem body's detail or title, else the text's beginning. */
function reasonIn(text: string): string {
  let reason = text
  try {
    const { detail, title } = JSON.parse(text) as { detail?: unknown; title?: unknown }
    if (typeof detail === 'string' || typeof title === 'string') reason = String(detail ?? title)
  } catch {
    // Not JSON: the text itself is the reason.
  }
  const line = reason.replace(/[\s\p{Cc}]+/gu, ' ')
  return line.trim().slice(0, 500)
}
