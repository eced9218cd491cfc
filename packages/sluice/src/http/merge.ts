import type { HeaderList } from './headers.ts'

/** The headers of an answer under way, as node and the frameworks on it offer them. */
export interface HeaderSink {
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
}

/** Fields that are lists: a second limiter appends its items. */
const LISTS: ReadonlySet<string> = new Set(['RateLimit', 'RateLimit-Policy'])
const REMAINING: ReadonlySet<string> = new Set(['RateLimit-Remaining', 'X-RateLimit-Remaining'])

/**
 * Sets headers beside those of a limiter further out: lists grow, and the single-valued fields describe the limit that is
 * closest to exhaustion, or the one that denied.
 */
export function mergeHeaders(sink: HeaderSink, headers: HeaderList, denied: boolean): void {
  const nearer = denied || headers.every(([name, value]) => !REMAINING.has(name) || Number(value) <= Number(sink.getHeader(name) ?? value))
  for (const [name, value] of headers) {
    const present = sink.getHeader(name)
    if (present === undefined) sink.setHeader(name, value)
    else if (LISTS.has(name)) sink.setHeader(name, `${String(present)}, ${value}`)
    else if (nearer) sink.setHeader(name, value)
  }
}
