import type { KeyState, KeyTarget } from 'sluice/policy'
import { failed, unreachable, usage } from '../../cli/failure.ts'
import { readAs } from '../../files/regular-file.ts'
import type { KeyAccess } from './store-keys.ts'

/** Milliseconds that a service may take to answer. */
const MAX_WAIT_MS = 10_000

/** The states of a running service, through its endpoints. @param called how its address was given, for messages */
export function serviceKeys(url: string, tokenFile: string | undefined, called: string): KeyAccess {
  const base = baseOf(url, called)
  const tokenIn = (file: string) => readAs(`token file ${file}`, file, failed, { pipes: true }).toString('utf8').trim()
  const admin = tokenFile === undefined ? {} : { Authorization: `Bearer ${tokenIn(tokenFile)}` }
  const headers = { 'Content-Type': 'application/json', ...admin }
  const call = async (method: string, { key, limit }: KeyTarget, below: string, body?: object): Promise<unknown> => {
    // URL parsers remove a segment `.` or `..`, even a percent-encoded one. Such a key goes into the query instead.
    const [segment, named] = /^\.{1,2}$/.test(key) ? ['-', key] : [encodeURIComponent(key)]
    const place = new URL(`${base.pathname.replace(/\/$/, '')}/v1/keys/${segment}${below}`, base)
    if (named !== undefined) place.searchParams.set('key', named)
    if (limit !== undefined) place.searchParams.set('limit', limit)
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const { status, ok, text } = await fetched(base.origin, place, { method, headers, ...sent })
    if (!ok) throw failed(`service ${base.origin} answered ${status}: ${reasonIn(text)}`)
    try {
      return text === '' ? undefined : JSON.parse(text)
    } catch (error) {
      throw failed(`service ${base.origin} answered what is not JSON: is it a Sluice?`, { cause: error })
    }
  }
  return {
    name: base.origin,
    async inspect(target) {
      const answer = await call('GET', target, '')
      const states = typeof answer === 'object' && answer !== null && 'states' in answer ? answer.states : undefined
      if (Array.isArray(states)) return states as KeyState[]
      throw failed(`service ${base.origin} sent no key states that this version understands`)
    },
    reset: async (target) => void (await call('DELETE', target, '')),
    async block(target, duration) {
      await (duration === null ? call('DELETE', target, '/block') : call('PUT', target, '/block', { duration }))
    },
    async [Symbol.asyncDispose]() {},
  }
}

function baseOf(url: string, called: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (base !== undefined && /^https?:$/.test(base.protocol) && base.username === '' && base.password === '') return base
  throw usage(`${called} is not an address of a service: expected http://HOST:PORT or https://..., without credentials`)
}

/** @throws CommandFailure exit 2 if the service cannot be reached */
async function fetched(origin: string, place: URL, request: RequestInit) {
  try {
    const answer = await fetch(place, { ...request, redirect: 'error', signal: AbortSignal.timeout(MAX_WAIT_MS) })
    return { status: answer.status, ok: answer.ok, text: await answer.text() }
  } catch (error) {
    const { cause, message, name } = error as Error
    // If several addresses failed, each has a reason and the AggregateError has none.
    const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause]
    const reason = [first, cause].find((one) => one instanceof Error)?.message ?? message
    const why = name === 'TimeoutError' ? `no answer within ${MAX_WAIT_MS / 1_000} s` : reason
    throw unreachable(`service ${origin} cannot be reached: ${why}`, { cause: error })
  }
}

/** The detail or title of a problem body, or the beginning of any other text, in one line. */
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
