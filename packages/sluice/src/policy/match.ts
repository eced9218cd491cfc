import type { Request } from '../identity/request.ts'
import { type Glob, pathSegments } from './glob.ts'
import { holds, type Match, type Rule } from './rule.ts'

/** Finds the rules that match a request, in the order of the policy. */
export type FindRules = (request: Request) => readonly Rule[]

export function indexRules(rules: readonly Rule[]): FindRules {
  const candidates = indexByPath(rules, (rule) => rule.match.path)
  return (request) => {
    const segments = pathSegments(request.path)
    return candidates(segments).filter((rule) => mismatch(rule.match, request, segments) === undefined)
  }
}

/** Looks things up by the first segment of their pattern: only those that can match are returned, in their order. */
export function indexByPath<T>(
  things: readonly T[],
  pathOf: (thing: T) => Glob | undefined,
): (segments: readonly string[]) => readonly T[] {
  const firstOf = (thing: T): string | undefined => pathOf(thing)?.first
  const open = things.filter((thing) => firstOf(thing) === undefined)
  const indexed = new Map<string, T[]>()
  for (const first of new Set(things.map(firstOf))) if (first !== undefined) indexed.set(first, [])
  for (const thing of things) {
    const first = firstOf(thing)
    // What has no first segment of its own goes, in its place, into every list.
    if (first === undefined) for (const list of indexed.values()) list.push(thing)
    else indexed.get(first)?.push(thing)
  }
  return (segments) => indexed.get(segments[0] ?? '') ?? open
}

/** Why a request does not match, or undefined where it does. */
export function mismatch(match: Match, request: Request, segments: readonly string[] = pathSegments(request.path)): string | undefined {
  const { path, methods, hosts, when } = match
  if (path !== undefined && !path.matches(segments)) return `path ${request.path} is not ${path.text}`
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
