/** A pattern of segments. Matching takes one step per segment of the value, for any pattern. */
export interface Glob {
  readonly text: string
  /** Literals, `*` and `**`; no two `**` in a row. */
  readonly segments: readonly string[]
  matches(segments: readonly string[]): boolean
}

/** The positions of a pattern are bits of one integer. */
const MAX_SEGMENTS = 30

export const GLOB_FORM: string = `a path of at most ${MAX_SEGMENTS} segments, each a literal, * (one segment) or ** (any number, also none), such as /api/*/items/**`

/**
 * Compiles a pattern over segments: a literal, `*` for exactly one, `**` for any number. Undefined if it has too many segments, or a
 * segment mixes a star with text. Matching tracks all possible positions of the pattern as bits, so it never backtracks.
 */
export function compileGlob(text: string, segments: readonly string[]): Glob | undefined {
  // Two ** in a row mean the same as one.
  const pattern = segments.filter((segment, index) => segment !== '**' || segments[index - 1] !== '**')
  if (pattern.length > MAX_SEGMENTS || pattern.some((segment) => segment.includes('*') && segment !== '*' && segment !== '**'))
    return undefined
  const literals = new Map<string, number>()
  let any = 0
  let stay = 0
  for (const [index, segment] of pattern.entries()) {
    const bit = 1 << index
    if (segment === '*') any |= bit
    else if (segment === '**') stay |= bit
    else literals.set(segment, (literals.get(segment) ?? 0) | bit)
  }
  const end = 1 << pattern.length
  const start = 1 | ((stay & 1) << 1)
  return {
    text,
    segments: pattern,
    matches(values) {
      let at = start
      for (const value of values) {
        const moved = (at & (any | (literals.get(value) ?? 0))) << 1
        const next = moved | (at & stay)
        at = next | ((next & stay) << 1)
        if (at === 0) return false
      }
      return (at & end) !== 0
    },
  }
}

/** The segments of a normalised path; none for the root. */
export function pathSegments(path: string): readonly string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}
