import { LimiterError } from '../errors/limiter-error.ts'
import type { Request } from '../identity/request.ts'
import type { Policy } from '../policy/policy.ts'
import { holds, type Rule } from '../policy/rule.ts'

/** A request of which nothing is known: what a bare key comes with. */
export const NOBODY: Request = {
  method: '',
  path: '*',
  query: '',
  host: undefined,
  headers: {},
  address: undefined,
  network: undefined,
  trustedPeer: false,
  claims: undefined,
}

/**
 * The rules a bare key is charged at: the named one, or those that ask nothing of a request.
 * @throws LimiterError INVALID_OPTIONS for a name that no rule has
 */
export function rulesByKey({ rules }: Policy, name: string | undefined): readonly Rule[] {
  const active = rules.filter(({ mode }) => mode !== 'off')
  if (name === undefined)
    return active.filter(
      ({ match: { path, methods, hosts, when } }) => (path ?? methods ?? hosts) === undefined && when.every((one) => holds(one, NOBODY)),
    )
  if (!rules.some((rule) => rule.name === name)) {
    throw new LimiterError(
      'INVALID_OPTIONS',
      `limit is ${JSON.stringify(name)}, expected one of ${rules.map((rule) => rule.name).join(', ')}`,
    )
  }
  return active.filter((rule) => rule.name === name)
}
