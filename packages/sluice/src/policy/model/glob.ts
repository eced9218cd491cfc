/** Matching takes one step for each segment of the value, whatever the pattern. */
export interface Glob {
  readonly text: string
  /** Literals, `*` and `**`; no two `**` in a row. */
  readonly segments: readonly string[]
  matches(segments: readonly string[]): boolean
  /** Of matching patterns, more literals rank higher, and `**` lower. */
  readonly rank: number
}

/** Positions in a pattern are the bits of a 32-bit integer. */
const MAX_SEGMENTS = 30

export const GLOB_FORM: string = `a path of at most ${MAX_SEGMENTS} segments, each a literal, * (one segment) or ** (any number, also none), such as /api/*/items/**`

/** Undefined for too many segments, or for a segment such as `a*`. */
export function compileGlob(text: string, segments: readonly string[]): Glob | undefined {
  // Two ** in a row mean the same as one.
  const pattern = segments.filter((segment, index) => segment !== '**' || segments[index - 1] !== '**')
  const isMixed = (segment: string): boolean => segment.includes('*') && segment !== '*' && segment !== '**'
  if (pattern.length > MAX_SEGMENTS || pattern.some(isMixed)) return undefined
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
  const literal = pattern.filter((segment) => segment !== '*' && segment !== '**').length
  const single = pattern.filter((segment) => segment === '*').length
  return {
    text,
    segments: pattern,
    // At most 30 segments: literals count first, then the absence of `**`, then single stars.
    rank: 64 * literal + single - (stay === 0 ? 0 : 32),
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

export function pathSegments(path: string): readonly string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}
