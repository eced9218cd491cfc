import type { KeyState, KeyTarget } from 'sluice/policy'
import { failed } from '../../cli/failure.ts'
import { serviceCalls } from '../../cli/service-calls.ts'
import type { KeyAccess } from './store-keys.ts'

/** @param called the flag or variable that gave the address, for messages */
export function serviceKeys(url: string, tokenFile: string | undefined, called: string): KeyAccess {
  const service = serviceCalls(url, tokenFile, called)
  const call = (method: string, { key, limit }: KeyTarget, below: string, body?: object): Promise<unknown> => {
    // URL parsers remove a segment `.` or `..`, even percent-encoded, so such a key goes into the query.
    const [segment, named] = /^\.{1,2}$/.test(key) ? ['-', key] : [encodeURIComponent(key)]
    const place = service.at(`/v1/keys/${segment}${below}`)
    if (named !== undefined) place.searchParams.set('key', named)
    if (limit !== undefined) place.searchParams.set('limit', limit)
    return service.call(method, place, body)
  }
  return {
    name: service.name,
    async inspect(target) {
      const answer = await call('GET', target, '')
      const states = typeof answer === 'object' && answer !== null && 'states' in answer ? answer.states : undefined
      if (Array.isArray(states)) return states as KeyState[]
      throw failed(`service ${service.name} sent no key states that this version understands`)
    },
    reset: async (target) => void (await call('DELETE', target, '')),
    async block(target, duration) {
      await (duration === null ? call('DELETE', target, '/block') : call('PUT', target, '/block', { duration }))
    },
    async [Symbol.asyncDispose]() {},
  }
}
