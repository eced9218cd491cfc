import { AMBIGUOUS } from './headers.ts'
import { encodePath, withoutAuthority } from './path.ts'

/** Which parts of a request target cannot be read, and why. */
export interface Unreadable {
  readonly path: boolean
  readonly query: boolean
  /** A sentence with the place of the problem, the shortened value, and what is allowed. It contains no value of a query. */
  readonly detail: string
}

export interface PathReading {
  /** Normalised and in lower case. Routers differ on case, so rules ignore it. */
  readonly path: string
  /** As `path`, but case and a trailing slash are kept, for policies that distinguish these. */
  readonly exactPath: string
}

export interface OneReading extends PathReading {
  /**
   * The path after everything was done to it that upstreams may do (`STEPS`). It is the same for all spellings of a resource. AMBIGUOUS if
   * it depends on the order of the steps.
   */
  readonly final: string
}

export interface ReadPath extends PathReading {
  /** All readings of the path; absent if there is only one. */
  readonly readings?: readonly OneReading[] | undefined
  /**
   * Present if the path or the query may mean anything, so that no rule may read that part. If it is the path, `path` and `exactPath` are
   * AMBIGUOUS.
   */
  readonly unreadable?: Unreadable | undefined
}

/**
 * Matches a path whose segments do not begin with a dot and have only characters that every upstream takes literally: it has one reading.
 */
const PLAIN = /^(?:\/[\w~!$&'()+,=:@-][\w.~!$&'()+,=:@-]*)*\/?$/
/** Matches the parts of an encoded path that upstreams treat differently. */
const SEVERAL = /[;\\]|%(?:2F|5C|25|3B)|\/\.\.(?:\/|$)|^\/\//
/**
 * Bounds on the work for one request, which is at most some milliseconds of CPU. MAX_STATES bounds the different texts of one path
 * (states). A twice encoded URL that contains another URL has 22 states, so no path that a person wrote reaches the bound. MAX_CHARACTERS
 * bounds the characters of all states together. No target below 512 characters reaches this bound.
 */
const MAX_STATES = 64
const MAX_CHARACTERS = 32_768

/**
 * Reads a request target in every way in which a chain of upstreams may read it. Upstreams differ about these questions: whether `%2F`,
 * `%5C` and `\` are a slash; whether `;` parameters are dropped; whether the path is decoded again; whether dot segments are resolved,
 * before or after the decoding; whether empty segments count; whether text after `//` is a host. `path` is the final path, which results if
 * upstreams do all of this. It is AMBIGUOUS if the readings have different final paths.
 */
export function readPath(target: string): ReadPath {
  if (target === '*') return { path: target, exactPath: target }
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  if (!target.includes('#')) return readPart(path)
  const unreadable = withFragment(target, query)
  return unreadable.path ? { ...UNKNOWN, unreadable } : { ...readPart(path), unreadable }
}

const UNKNOWN: PathReading = { path: AMBIGUOUS, exactPath: AMBIGUOUS }

function readPart(path: string): ReadPath {
  if (PLAIN.test(path)) return readingOf(path)
  const text = encodePath(withoutAuthority(path))
  const first = text.startsWith('/') ? text : `/${text}`
  if (!SEVERAL.test(first)) return readingOf(tidy(first))
  return readAll(first) ?? { ...UNKNOWN, unreadable: withManyReadings(path) }
}

/** Whether some reading of a request's path passes a test. True if the path cannot be read. */
export function someReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return true
  return readings === undefined ? test(read) : readings.some(test)
}

/** Whether every reading of a request's path passes a test. False if the path cannot be read. */
export function everyReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return false
  return readings === undefined ? test(read) : readings.every(test)
}

/**
 * The final path of all readings that pass a test: what the path becomes if upstreams do to it all that they may do. AMBIGUOUS if they
 * differ.
 */
export function finalPath({ path, readings }: ReadPath, test: (reading: PathReading) => boolean): string {
  return readings === undefined ? path : common(readings.filter(test).map((reading) => reading.final))
}

/** Applies the STEPS (what upstreams may do to a path) in every order until no new text appears. Undefined if that exceeds the bounds. */
function readAll(first: string): ReadPath | undefined {
  const states = new Map<string, readonly string[]>([[first, []]])
  let characters = 0
  // A Map iterates in insertion order, and the iteration includes states that are added during it.
  for (const state of states.keys()) {
    characters += state.length
    if (states.size > MAX_STATES || characters > MAX_CHARACTERS) return undefined
    const after = STEPS.map((step) => step(state)).filter((next) => next !== state)
    for (const next of after) if (!states.has(next)) states.set(next, [])
    states.set(state, after)
  }
  const readings = readingsOf(states)
  const [only, another] = readings
  if (only !== undefined && another === undefined) return { path: only.path, exactPath: only.exactPath }
  const path = common(readings.map((reading) => reading.final))
  return { path, exactPath: readings.find((reading) => reading.path === path)?.exactPath ?? path, readings }
}

/** @param states for each text of the path, the texts that one step can make of it; these are simpler */
function readingsOf(states: ReadonlyMap<string, readonly string[]>): readonly OneReading[] {
  const finals = new Map<string, string>()
  const readings = new Map<string, OneReading>()
  for (const [state, after] of [...states].sort(([a], [b]) => weight(a) - weight(b))) {
    const reading = readingOf(state)
    const final = after.length === 0 ? reading.path : common(after.map((next) => finals.get(next) as string))
    finals.set(state, final)
    if (tidy(state) !== state) continue
    const same = readings.get(reading.exactPath)
    readings.set(reading.exactPath, { ...reading, final: same === undefined ? final : common([same.final, final]) })
  }
  return [...readings.values()]
}

/** A measure of a path that each step makes smaller, because a step removes characters or turns a backslash into a slash. */
function weight(path: string): number {
  return path.length + path.split('\\').length
}

function common(values: readonly string[]): string {
  const [first] = values
  return first !== undefined && values.every((value) => value === first) ? first : AMBIGUOUS
}

/** What an upstream, or a proxy before it, may do to a path. Each step makes the path simpler, so repeated steps come to an end. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('%2F', '/'),
  (path) => path.replaceAll('%5C', '\\'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll('%3B', ';'),
  (path) => (path.includes('%25') ? encodePath(path.replaceAll('%25', '%')) : path),
  (path) => (path.includes(';') ? path.replace(/;[^/]*/g, '') : path),
  tidy,
  (path) => (path.includes('/.') ? resolveDots(path) : path),
  // A path that begins with `//` is like a URL without its scheme. URL parsers take the first segment for a host. Browsers take
  // it for a host after any number of slashes.
  (path) => (path.startsWith('//') ? path.replace(/^\/\/[^/]*/, '') || '/' : path),
  (path) => (path.startsWith('//') ? path.replace(/^\/{2,}[^/]*/, '') || '/' : path),
]

/** Resolves dot segments. An empty segment counts as a segment, as in upstreams that do not merge slashes: `/a//..` is `/a/`. */
function resolveDots(path: string): string {
  const kept: string[] = []
  const segments = path.slice(1).split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
    if (index === segments.length - 1 && (segment === '..' || segment === '.')) kept.push('')
  }
  return `/${kept.join('/')}`
}

/** Removes empty segments and segments of one dot, because no router distinguishes paths by these. */
function tidy(path: string): string {
  if (!path.includes('//') && !path.includes('/.')) return path
  const kept = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return kept.length > 0 && /\/\.?$/.test(path) ? `/${kept.join('/')}/` : `/${kept.join('/')}`
}

function readingOf(exact: string): PathReading {
  const exactPath = exact === '' ? '/' : exact.replaceAll('\\', '%5C')
  const path = exactPath.length > 1 && exactPath.endsWith('/') ? exactPath.slice(0, -1) : exactPath
  return { path: path.toLowerCase(), exactPath }
}

const MAX_SHOWN_LENGTH = 60

/**
 * Describes a target with a `#`, which is unreadable: some upstreams drop the text after it, others do not. No conforming client sends one
 * (RFC 9112, 3.2).
 * @param query index at which the query begins, -1 if there is none
 */
function withFragment(target: string, query: number): Unreadable {
  const inQuery = query !== -1 && query < target.indexOf('#')
  const place = inQuery ? `The query of the path ${shown(target.slice(0, query))}` : `The path ${shown(target)}`
  const detail = `${place} has a #; expected a request target without one, %23 in place of it.`
  return { path: !inQuery, query: true, detail }
}

function withManyReadings(path: string): Unreadable {
  const allowed = 'expected one of fewer %2F, %5C, \\, ;, %25, .. and //'
  return { path: true, query: false, detail: `The path ${shown(path)} can be read in too many ways; ${allowed}.` }
}

function shown(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))}...` : JSON.stringify(text)
}
