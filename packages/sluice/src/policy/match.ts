import type { Request } from '../identity/request.ts'
import { pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import { holds, type Match, type Rule } from './rule.ts'
import type { Sliced } from './sliced.ts'

/** Finds the rules that match a request, in the order of the policy. */
export type FindRules = (request: Request) => readonly Rule[]

export function* indexRules(rules: readonly Rule[]): Sliced<FindRules> {
  const candidates = yield* indexByPath(rules, (rule) => rule.match.path)
  return (request) => candidates(pathSegments(request.path)).filter((rule) => mismatchBesidePath(rule.match, request) === undefined)
}

/** Why a request does not match, or undefined where it does. */
export function mismatch(match: Match, request: Request): string | undefined {
  const { path } = match
  if (path !== undefined && !path.matches(pathSegments(request.path))) return `path ${request.path} is not ${path.text}`
  return mismatchBesidePath(match, request)
}

function mismatchBesidePath({ methods, hosts, when }: Match, request: Request): string | undefined {
  // HEAD runs the handler of GET, so a rule for GET is a rule for HEAD.
  if (methods !== undefined && !methods.has(request.method) && !(request.method === 'HEAD' && methods.has('GET'))) {
    return `method ${request.method} is not ${[...methods].join(' or ')}`
  }
  if (hosts !== undefined) {
    const labels = request.host?.split('.') ?? []
    if (!hosts.some((host) => host.matches(labels)))
      return `host ${request.host ?? 'unknown'} is not ${hosts.map((host) => host.text).join(' or ')}`
  }
  const failing = when.find((condition) => !holds(condition, request))
  return failing === undefined ? undefined : `${failing.source.text} is not ${failing.value}`
}
