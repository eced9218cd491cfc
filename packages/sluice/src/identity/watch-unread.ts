import type { Request } from './request.ts'

/** Runs work on a request and returns whether the work read an unreadable part. */
export type Watch = (work: (seen: Request) => void) => boolean

/**
 * Makes a `Watch` for a request. It observes which parts of the request the work reads. There is no list of the sources that read an
 * unreadable part, because a list could miss a source. Then requests would escape the rules with that source.
 */
export function watchUnread(request: Request): Watch {
  const { path, query } = request.unreadable ?? {}
  const names: (keyof Request)[] = path === true ? ['path', 'exactPath', 'readings'] : []
  if (query === true) names.push('query')
  // Property descriptors are copied, not values, because reading a value would count as a read if the request is already watched.
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
