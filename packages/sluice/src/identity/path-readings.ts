import { AMBIGUOUS } from './headers.ts'
import { encodePath, withoutAuthority } from './path.ts'

/** Which parts of a request target cannot be read, and why. */
export interface Unreadable {
  readonly path: boolean
  readonly query: boolean
  /** A sentence about the problem, without any value of a query. */
  readonly detail: string
}

export interface PathReading {
  /** Normalised and in lower case, because routers differ on case. */
  readonly path: string
  /** With case and a trailing slash, for policies that distinguish these. */
  readonly exactPath: string
}

export interface OneReading extends PathReading {
  /** The path after all `STEPS` that upstreams may apply, the same for all spellings. AMBIGUOUS if it depends on their order. */
  readonly final: string
}

export interface ReadPath extends PathReading {
  /** The ways in which upstreams may read the path; absent for one. */
  readonly readings?: readonly OneReading[] | undefined
  /** Present if the path or the query may mean anything to upstreams, so that no rule may read it. */
  readonly unreadable?: Unreadable | undefined
}

/** A path with one meaning: every upstream takes these characters literally, and no segment begins with a dot. */
const PLAIN = /^(?:\/[\w~!$&'()+,=:@-][\w.~!$&'()+,=:@-]*)*\/?$/
/** Parts of an encoded path that upstreams treat differently. */
const SEVERAL = /[;\\]|%(?:2F|5C|25|3B)|\/\.\.(?:\/|$)|^\/\//
/**
 * The bounds limit a request to some milliseconds of CPU. MAX_STATES bounds the different texts of one path: a twice encoded URL that
 * contains another URL has 22. MAX_CHARACTERS bounds all texts together, and no target below 512 characters reaches it.
 */
const MAX_STATES = 64
const MAX_CHARACTERS = 32_768

/**
 * Reads a request target in every way in which upstreams may read it. They differ about `%2F`, `%5C` and `\` as slashes, `;` parameters,
 * decoding twice, the order of dot segments and decoding, empty segments, and text after `//` as a host. `path` is AMBIGUOUS if they end at
 * different paths.
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

/** True if the path cannot be read. */
export function someReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return true
  return readings === undefined ? test(read) : readings.some(test)
}

/** False if the path cannot be read. */
export function everyReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return false
  return readings === undefined ? test(read) : readings.every(test)
}

/** Only readings that pass the test count. AMBIGUOUS if their final paths differ. */
export function finalPath({ path, readings }: ReadPath, test: (reading: PathReading) => boolean): string {
  return readings === undefined ? path : common(readings.filter(test).map((reading) => reading.final))
}

/** Applies the STEPS in every order. Undefined if that exceeds the bounds. */
function readAll(first: string): ReadPath | undefined {
  const states = new Map<string, readonly string[]>([[first, []]])
  let characters = 0
  // A Map's iteration includes entries that are added during it.
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

/** @param states by text (the path, or what some STEPS make of it): the texts that one more step makes */
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

/** Each step makes it smaller, by fewer characters or backslashes. */
function weight(path: string): number {
  return path.length + path.split('\\').length
}

function common(values: readonly string[]): string {
  const [first] = values
  return first !== undefined && values.every((value) => value === first) ? first : AMBIGUOUS
}

/** What an upstream may do to a path. Each step makes the path simpler, so repeated steps come to an end. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('%2F', '/'),
  (path) => path.replaceAll('%5C', '\\'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll('%3B', ';'),
  (path) => (path.includes('%25') ? encodePath(path.replaceAll('%25', '%')) : path),
  (path) => (path.includes(';') ? path.replace(/;[^/]*/g, '') : path),
  tidy,
  (path) => (path.includes('/.') ? resolveDots(path) : path),
  // URL parsers take the first segment after `//` for a host. Browsers do so after any number of slashes.
  (path) => (path.startsWith('//') ? path.replace(/^\/\/[^/]*/, '') || '/' : path),
  (path) => (path.startsWith('//') ? path.replace(/^\/{2,}[^/]*/, '') || '/' : path),
]

/** Upstreams that do not merge slashes count empty segments: `/a//..` is `/a/`. */
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

/** No router distinguishes paths by empty or single-dot segments. */
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
 * Some upstreams drop the text after a `#`, others do not. No conforming client sends one (RFC 9112, 3.2).
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
