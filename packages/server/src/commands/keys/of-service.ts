import type { KeyState, KeyTarget } from 'sluice/policy'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { readRegular } from '../../files/regular-file.ts'
import type { KeyHolder } from './key-holder.ts'

/** Milliseconds that a service may take to answer. */
const PATIENCE_MS = 10_000

/** The states of a running service, through its endpoints. */
export function serviceHolder(url: string, tokenFile: string | undefined): KeyHolder {
  const base = baseOf(url)
  const authorization = tokenFile === undefined ? {} : { Authorization: `Bearer ${readToken(tokenFile)}` }
  const ask = async (method: string, { key, limit }: KeyTarget, below: string, body?: unknown): Promise<unknown> => {
    // URLs cannot have a segment `.` or `..`, encoded or not.
    const [segment, named] = /^\.{1,2}$/.test(key) ? ['-', key] : [encodeURIComponent(key)]
    const place = new URL(`${base.pathname.replace(/\/$/, '')}/v1/keys/${segment}${below}`, base)
    if (named !== undefined) place.searchParams.set('key', named)
    if (limit !== undefined) place.searchParams.set('limit', limit)
    const answer = await reached(base.origin, () =>
      fetch(place, {
        method,
        headers: { ...authorization, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(PATIENCE_MS),
      }),
    )
    const text = await reached(base.origin, () => answer.text())
    if (!answer.ok) throw new CommandFailure(EXIT.failed, `service ${base.origin} answered ${answer.status}: ${whyOf(text)}`)
    return text === '' ? undefined : parsed(base.origin, text)
  }
  return {
    name: base.origin,
    async inspect(target) {
      const told = await ask('GET', target, '')
      const states = typeof told === 'object' && told !== null && 'states' in told ? told.states : undefined
      if (Array.isArray(states)) return states as KeyState[]
      throw new CommandFailure(EXIT.failed, `service ${base.origin} tells nothing of keys that this version understands`)
    },
    reset: async (target) => void (await ask('DELETE', target, '')),
    block: async (target, duration) =>
      void (await (duration === null ? ask('DELETE', target, '/block') : ask('PUT', target, '/block', { duration }))),
    close: async () => {},
  }
}

function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (base !== undefined && /^https?:$/.test(base.protocol) && base.username === '' && base.password === '') return base
  throw new CommandFailure(EXIT.usage, '--url is no address of a service: expected http://HOST:PORT or https://..., without credentials')
}

function readToken(file: string): string {
  try {
    return readRegular(file, { pipes: true }).toString('utf8').trim()
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `token file ${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

async function reached<T>(origin: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { cause, message, name } = error as Error
    const why = name === 'TimeoutError' ? `no answer within ${PATIENCE_MS / 1_000} s` : cause instanceof Error ? reasonOf(cause) : message
    throw new CommandFailure(EXIT.unreachable, `service ${origin} cannot be reached: ${why}`, { cause: error })
  }
}

/** The reason of a failed connection. If several addresses failed, each has a reason and the AggregateError has none. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors as unknown[])[0] : error
  return first instanceof Error ? first.message : error.message
}

/** The detail or title of a problem body, or the beginning of any other text. */
function whyOf(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: unknown; title?: unknown }
    if (typeof detail === 'string' || typeof title === 'string') return oneLine(String(detail ?? title))
  } catch {
    // Not JSON: the text itself is returned below.
  }
  return oneLine(text)
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 500)
}

function parsed(origin: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(EXIT.failed, `service ${origin} answered what is no JSON: is it a Sluice?`, { cause: error })
  }
}
