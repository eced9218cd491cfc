/** Which parts of a request target cannot be read, and why. */
export interface Unreadable {
  readonly path: boolean
  readonly query: boolean
  /** Where the problem is, the value (shortened), and what is allowed. It contains no value of a query. */
  readonly detail: string
}

const MAX_SHOWN = 60

/**
 * A target with a `#`, which no conforming client sends (RFC 9112, 3.2). Some upstreams drop the text after it, others do not.
 * @param query index at which the query begins, -1 if there is none
 */
export function withFragment(target: string, query: number): Unreadable {
  const inQuery = query !== -1 && query < target.indexOf('#')
  const place = inQuery ? `The query of the path ${shown(target.slice(0, query))}` : `The path ${shown(target)}`
  return { path: !inQuery, query: true, detail: `${place} has a #; expected a request target without one, %23 in place of it.` }
}

/** A path with too many readings to list. */
export function withManyReadings(path: string): Unreadable {
  const allowed = 'expected one of fewer %2F, %5C, \\, ;, %25, .. and //'
  return { path: true, query: false, detail: `The path ${shown(path)} can be read in too many ways; ${allowed}.` }
}

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${JSON.stringify(text.slice(0, MAX_SHOWN))}...` : JSON.stringify(text)
}
