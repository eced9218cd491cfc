import type { Request } from '../../identity/request.ts'
import { someReading } from '../../identity/path-readings.ts'
import { type Watch, watchUnread } from '../../identity/watch-unread.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import { type Glob, pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import { type Match, type Rule, type Truth, truthOf } from './rule.ts'
import type { Sliced } from './sliced.ts'

/**
 * Finds the rules that match, in the order of the policy. If upstreams may read the path in several ways, one matching way is enough. Rules
 * that read an unreadable part of the request are found too.
 */
export type FindRules = (request: Request) => readonly Rule[]

export function* indexRules(rules: readonly Rule[]): Sliced<FindRules> {
  const [withPath, others]: [Indexed[], Indexed[]] = [[], []]
  for (const [index, rule] of rules.entries()) {
    yield
    ;(rule.match.path === undefined ? others : withPath).push({ index, rule })
  }
  const paths = yield* indexPaths(withPath)
  const byPath = yield* indexByPath(paths, ({ path }) => path)
  const byCondition: FindByCondition<Indexed> = yield* indexByCondition(others, ({ rule }) => rule.match.when)
  return (request) => {
    const found: Rule[] = []
    const readsUnread = request.unreadable === undefined ? undefined : watchUnread(request)
    for (const { rule } of inOrder(candidatesOf(paths, byPath, request), byCondition(request)))
      if (
        readsUnread === undefined
          ? mismatchApartFromPath(rule.match, request) === undefined
          : unreadMatch(rule.match, request, readsUnread) !== undefined
      )
        found.push(rule)
    return found
  }
}

interface Indexed {
  readonly index: number
  readonly rule: Rule
}

function inOrder(some: readonly Indexed[], others: readonly Indexed[]): readonly Indexed[] {
  if (some.length === 0) return others
  return others.length === 0 ? some : [...some, ...others].sort((a, b) => a.index - b.index)
}

interface PathRules {
  readonly path: Glob
  readonly find: FindByCondition<Indexed>
}

function* indexPaths(rules: readonly Indexed[]): Sliced<readonly PathRules[]> {
  const byPath = new Map<string, { readonly path: Glob; readonly rules: Indexed[] }>()
  for (const indexed of rules) {
    yield
    const path = indexed.rule.match.path as Glob
    const name = path.segments.join('/')
    const known = byPath.get(name)
    if (known === undefined) byPath.set(name, { path, rules: [indexed] })
    else known.rules.push(indexed)
  }
  const paths: PathRules[] = []
  for (const { path, rules: here } of byPath.values())
    paths.push({ path, find: yield* indexByCondition(here, ({ rule }) => rule.match.when) })
  return paths
}

function candidatesOf(
  paths: readonly PathRules[],
  candidates: (segments: readonly string[]) => readonly PathRules[],
  request: Request,
): readonly Indexed[] {
  const { path, readings, unreadable } = request
  let found: readonly PathRules[]
  if (unreadable?.path === true) found = paths
  else if (readings === undefined) found = candidates(pathSegments(path))
  else found = [...new Set(readings.flatMap((reading) => candidates(pathSegments(reading.path))))]
  const [first] = found
  if (first === undefined || found.length === 1) return first?.find(request) ?? []
  return found.flatMap(({ find }) => find(request)).sort((a, b) => a.index - b.index)
}

/** Undefined if the request matches. */
export function mismatch(match: Match, request: Request): string | undefined {
  const { path } = match
  if (path !== undefined && !someReading(request, (reading) => path.matches(pathSegments(reading.path))))
    return `path ${request.path} is not ${path.text}`
  return mismatchApartFromPath(match, request)
}

/** Undefined if the readable parts already exclude the match. */
export function unreadMatch(match: Match, request: Request, readsUnread: Watch): boolean | undefined {
  let reads = match.path !== undefined && request.unreadable?.path === true
  const why = reads ? mismatchApartFromPath : mismatch
  if (why({ ...match, when: [] }, request) !== undefined) return undefined
  for (const condition of match.when) {
    let truth: Truth
    const isUnread = readsUnread((seen) => void (truth = truthOf(condition, seen)))
    if (!isUnread && truth === false) return undefined
    reads ||= isUnread
  }
  return reads
}

function mismatchApartFromPath({ methods, hosts, when }: Match, request: Request): string | undefined {
  // HEAD runs the handler of GET, so a rule for GET applies to HEAD.
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
