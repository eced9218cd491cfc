import { AMBIGUOUS } from './ambiguous.ts'
import { encodePath, withoutAuthority } from './path.ts'
import { type Unreadable, withFragment, withManyReadings } from './unreadable.ts'

/** A path as one upstream reads it. */
export interface PathReading {
  /** Normalised and in lower case: routers differ on case, so rules do not tell cases apart. */
  readonly path: string
  /** As `path`, with its case and a slash at its end, for policies that tell these apart. */
  readonly exactPath: string
}

/** One reading of several. */
export interface OneReading extends PathReading {
  /** Its `path` when everything is applied, so that all spellings of a resource have one; AMBIGUOUS where that depends on the order. */
  readonly final: string
}

/** A path, and every reading of it where upstreams may differ. */
export interface ReadPath extends PathReading {
  /** Absent: there is one. */
  readonly readings?: readonly OneReading[] | undefined
  /** Present: path or query may be anything, and no rule may look at it. The paths are AMBIGUOUS where it is the path. */
  readonly unreadable?: Unreadable | undefined
}

/** Segments that begin with no dot, of characters that every upstream takes as they are. */
const PLAIN = /^(?:\/[\w~!$&'()*+,=:@-][\w.~!$&'()*+,=:@-]*)*\/?$/
/** What upstreams differ about, in an encoded path. */
const SEVERAL = /[;\\]|%(?:2F|5C|25|3B)|\/\.\.(?:\/|$)|^\/\//
/**
 * Bounds of one request's work, some milliseconds of CPU for the longest targets. A URL that is encoded twice and holds another one has 22 states, so
 * that the first is met by no path that a person wrote. The second, in all states together, is met by no target below 512 characters.
 */
const MAX_STATES = 64
const MAX_CHARACTERS = 32_768

/**
 * Reads a request target in every way that a chain of upstreams may: `%2F`, `%5C` and `\` as a slash or not, `;` parameters kept or dropped,
 * decoded again, dot segments resolved or not, before or after that, empty segments counted or not, and what follows `//` taken for a host.
 * `path` is what all readings are in the end, AMBIGUOUS where there is no such.
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

/** Whether some reading of a request's path may pass a test, which it may where it cannot be read. */
export function someReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return true
  return readings === undefined ? test(read) : readings.some(test)
}

/** Whether every reading of a request's path passes a test; none does where it cannot be read. */
export function everyReading(read: ReadPath, test: (reading: PathReading) => boolean): boolean {
  const { readings, unreadable } = read
  if (unreadable?.path === true) return false
  return readings === undefined ? test(read) : readings.every(test)
}

/** What all readings that pass a test are in the end; AMBIGUOUS where they differ. */
export function finalPath({ path, readings }: ReadPath, test: (reading: PathReading) => boolean): string {
  return readings === undefined ? path : common(readings.filter(test).map((reading) => reading.final))
}

/** Follows every order of the steps from one spelling until nothing new comes; undefined where that is beyond the bounds. */
function readAll(first: string): ReadPath | undefined {
  const states = new Map<string, readonly string[]>([[first, []]])
  let characters = 0
  // A map is walked in the order of its insertion, also through what is added meanwhile.
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

/** @param states what each may become in one step, which is always simpler */
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

/** Every step takes something away, or makes a slash of a backslash. */
function weight(path: string): number {
  return path.length + path.split('\\').length
}

function common(values: readonly string[]): string {
  const [first] = values
  return first !== undefined && values.every((value) => value === first) ? first : AMBIGUOUS
}

/** What an upstream, or a proxy before it, may do to a path; each makes it simpler, so that following them comes to an end. */
const STEPS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('%2F', '/'),
  (path) => path.replaceAll('%5C', '\\'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replaceAll('%3B', ';'),
  (path) => (path.includes('%25') ? encodePath(path.replaceAll('%25', '%')) : path),
  (path) => (path.includes(';') ? path.replace(/;[^/]*/g, '') : path),
  tidy,
  (path) => (path.includes('/.') ? resolveDots(path) : path),
  // A URL without its scheme: what parses a target as a URL finds a host, browsers' parsers behind any number of slashes.
  (path) => (path.startsWith('//') ? path.replace(/^\/\/[^/]*/, '') || '/' : path),
  (path) => (path.startsWith('//') ? path.replace(/^\/{2,}[^/]*/, '') || '/' : path),
]

/** Empty segments count as segments: `/a//..` is `/a/`, as upstreams have it that do not merge slashes. */
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

/** Without empty segments and those of one dot, which no router tells apart. */
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
