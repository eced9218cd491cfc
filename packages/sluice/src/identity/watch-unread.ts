import type { Request } from './request.ts'

/** Returns whether the work read an unreadable part. */
export type Watch = (work: (seen: Request) => void) => boolean

/**
 * Reads are watched, because a list of the sources that read an unreadable part could miss one. Then requests would escape the rules with
 * that source.
 */
export function watchUnread(request: Request): Watch {
  const { path, query } = request.unreadable ?? {}
  const names: (keyof Request)[] = path === true ? ['path', 'exactPath', 'readings'] : []
  if (query === true) names.push('query')
  // Copied values would count as reads of a watched request.
  const seen = Object.defineProperties({}, Object.getOwnPropertyDescriptors(request)) as Request
  let wasRead = false
  for (const name of names)
    Object.defineProperty(seen, name, {
      configurable: true,
      enumerable: true,
      get() {
        wasRead = true
        return request[name]
      },
    })
  return (work) => {
    wasRead = false
    work(seen)
    return wasRead
  }
}
