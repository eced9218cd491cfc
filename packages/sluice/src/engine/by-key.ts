import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Request } from '../identity/request.ts'
import type { Policy } from '../policy/policy.ts'
import { type Match, type Rule, truthOf } from '../policy/rule.ts'
import type { Sliced } from '../policy/sliced.ts'

/** A request of which nothing is known: what a bare key comes with. */
export const NOBODY: Request = {
  method: '',
  path: '*',
  exactPath: '*',
  readings: undefined,
  unreadable: undefined,
  query: '',
  host: undefined,
  hosts: undefined,
  headers: {},
  rawHeaders: undefined,
  address: undefined,
  network: undefined,
  trustedPeer: false,
  claims: undefined,
}

/** Finds the rules that a bare key is charged at. */
export type FindByKey = (name: string | undefined) => readonly Rule[]

/**
 * The rules a bare key is charged at: the named one, or those that ask nothing of a request. The finder throws a LimiterError
 * UNKNOWN_RULE for a name that no rule has.
 */
export function* indexByName({ rules }: Policy): Sliced<FindByKey> {
  const asking: Rule[] = []
  const named = new Map<string, readonly Rule[]>()
  for (const rule of rules) {
    yield
    const { name, mode, match } = rule
    const active = mode !== 'off'
    named.set(name, active ? [rule] : [])
    if (active && asksNothing(match)) asking.push(rule)
  }
  return (name) => {
    const found = name === undefined ? asking : named.get(name)
    if (found !== undefined) return found
    throw new LimiterError('UNKNOWN_RULE', `limit is ${shown(name)}, expected one of ${rules.map((rule) => rule.name).join(', ')}`)
  }
}

function asksNothing({ path, methods, hosts, when }: Match): boolean {
  return (path ?? methods ?? hosts) === undefined && when.every((one) => truthOf(one, NOBODY) === true)
}
