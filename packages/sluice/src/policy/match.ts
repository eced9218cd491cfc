import type { Request } from '../identity/request.ts'
import { someReading } from '../identity/path-readings.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import { pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import { type Match, type Rule, truthOf } from './rule.ts'
import type { Sliced } from './sliced.ts'

/** Finds the rules that match a request in some reading of it, in the order of the policy. */
export type FindRules = (request: Request) => readonly Rule[]

export function* indexRules(rules: readonly Rule[]): Sliced<FindRules> {
  const [withPath, others]: [Placed[], Placed[]] = [[], []]
  for (const [index, rule] of rules.entries()) {
    yield
    ;(rule.match.path === undefined ? others : withPath).push({ index, rule })
  }
  const byPath = yield* indexByPath(withPath, ({ rule }) => rule.match.path)
  const byCondition: FindByCondition<Placed> = yield* indexByCondition(others, ({ rule }) => rule.match.when)
  return (request) => {
    const found: Rule[] = []
    for (const { rule } of inOrder(candidatesOf(withPath, byPath, request), byCondition(request)))
      if (mismatchBesidePath(rule.match, request) === undefined) found.push(rule)
    return found
  }
}

/** A rule and its index in the policy. */
interface Placed {
  readonly index: number
  readonly rule: Rule
}

function inOrder(some: readonly Placed[], others: readonly Placed[]): readonly Placed[] {
  if (some.length === 0) return others
  return others.length === 0 ? some : [...some, ...others].sort((a, b) => a.index - b.index)
}

function candidatesOf(
  rules: readonly Placed[],
  candidates: (segments: readonly string[]) => readonly Placed[],
  { path, readings }: Request,
): readonly Placed[] {
  if (readings === undefined) return candidates(pathSegments(path))
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

/** As `mismatch`, of everything else. */
export function mismatchBesidePath({ methods, hosts, when }: Match, request: Request): string | undefined {
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
