import type { Request } from '../identity/request.ts'
import { someReading } from '../identity/path-readings.ts'
import { pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import { type Match, type Rule, truthOf } from './rule.ts'
import type { Sliced } from './sliced.ts'

/** Finds the rules that match a request in some reading of it, in the order of the policy. */
export type FindRules = (request: Request) => readonly Rule[]

export function* indexRules(rules: readonly Rule[]): Sliced<FindRules> {
  const candidates = yield* indexByPath(rules, (rule) => rule.match.path)
  return (request) => candidatesOf(rules, candidates, request).filter((rule) => mismatchBesidePath(rule.match, request) === undefined)
}

function candidatesOf(
  rules: readonly Rule[],
  candidates: (segments: readonly string[]) => readonly Rule[],
  { path, readings }: Request,
): readonly Rule[] {
  if (readings === undefined) return candidates(pathSegments(path))
  if (readings === 'any') return rules
  const found = new Set(readings.flatMap((reading) => candidates(pathSegments(reading.path))))
  return rules.filter((rule) => found.has(rule))
}

/** Why a request does not match, or undefined where it does. */
export function mismatch(match: Match, request: Request): string | undefined {
  const { path } = match
  if (path !== undefined && !someReading(request, (reading) => path.matches(pathSegments(reading.path))))
    return `path ${request.path} is not ${path.text}`
  return mismatchBesidePath(match, request)
}

function mismatchBesidePath({ methods, hosts, when }: Match, request: Request): string | undefined {
  // HEAD runs the handler of GET, so a rule for GET is a rule for HEAD.
  if (methods !== undefined && !methods.has(request.method) && !(request.method === 'HEAD' && methods.has('GET'))) {
    return `method ${request.method} is not ${[...methods].join(' or ')}`
  }
  if (hosts !== undefined) {
    const found = request.hosts ?? (request.host === undefined ? [] : [request.host])
    const labels = found.map((host) => host.split('.'))
    if (!hosts.some((host) => labels.some((one) => host.matches(one))))
      return `host ${request.host ?? 'unknown'} is not ${hosts.map((host) => host.text).join(' or ')}`
  }
  const failing = when.find((condition) => truthOf(condition, request) === false)
  return failing === undefined ? undefined : `${failing.source.text} is not ${failing.value}`
}
