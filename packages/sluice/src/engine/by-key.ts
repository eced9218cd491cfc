import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Request } from '../identity/request.ts'
import type { Policy } from '../policy/model/policy.ts'
import { type Match, type Rule, truthOf } from '../policy/model/rule.ts'
import type { Sliced } from '../policy/model/sliced.ts'

/** The request of a bare key: nothing of it is known. */
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

/** Finds the rules that charge a bare key. */
export type FindByKey = (name: string | undefined) => readonly Rule[]

/**
 * Indexes the rules that charge a bare key: the named rule. Without a name: all rules that have no condition on path, method or host and
 * whose other conditions hold for `NOBODY`. The finder throws a LimiterError UNKNOWN_RULE for a name that no rule has.
 */
export function* indexByName({ rules }: Policy): Sliced<FindByKey> {
  const unconditional: Rule[] = []
  const named = new Map<string, readonly Rule[]>()
  for (const rule of rules) {
    yield
    const { name, mode, match } = rule
    const active = mode !== 'off'
    named.set(name, active ? [rule] : [])
    if (active && matchesNobody(match)) unconditional.push(rule)
  }
  return (name) => {
    const found = name === undefined ? unconditional : named.get(name)
    if (found !== undefined) return found
    throw new LimiterError('UNKNOWN_RULE', `limit is ${shown(name)}, expected one of ${rules.map((rule) => rule.name).join(', ')}`)
  }
}

function matchesNobody({ path, methods, hosts, when }: Match): boolean {
  return (path ?? methods ?? hosts) === undefined && when.every((one) => truthOf(one, NOBODY) === true)
}
