/** Which parts of a request target cannot be read, and why. */
export interface Unreadable {
  readonly path: boolean
  readonly query: boolean
  /** Place, value (shortened) and what is allowed. No value of a query is in it. */
  readonly detail: string
}

const MAX_SHOWN = 60

/**
 * A target with a `#`, which no conforming client sends (RFC 9112, 3.2): one upstream drops what follows it, another does not.
 * @param query where the query begins, -1 where there is none
 */
export function withFragment(target: string, query: number): Unreadable {
  const inQuery = query !== -1 && query < target.indexOf('#')
  const place = inQuery ? `The query of the path ${shown(target.slice(0, query))}` : `The path ${shown(target)}`
  return { path: !inQuery, query: true, detail: `${place} has a #; expected a request target without one, %23 in place of it.` }
}

/** A path with more readings than anybody would list. */
export function withManyReadings(path: string): Unreadable {
  const allowed = 'expected one of fewer %2F, %5C, \\, ;, %25, .. and //'
  return { path: true, query: false, detail: `The path ${shown(path)} can be read in too many ways; ${allowed}.` }
}

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${JSON.stringify(text.slice(0, MAX_SHOWN))}...` : JSON.stringify(text)
}
