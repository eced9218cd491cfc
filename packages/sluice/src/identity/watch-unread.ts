import type { Request } from './request.ts'

/** Does work with a request and says whether it looked at what cannot be read. */
export type Watch = (work: (seen: Request) => void) => boolean

/**
 * Says whether work looks at what of a request cannot be read. Watching is surer than a list of the sources that look: one that is forgotten in
 * such a list would be a way around its rules.
 */
export function watchUnread(request: Request): Watch {
  const { path, query } = request.unreadable ?? {}
  const names = [...(path === true ? (['path', 'exactPath', 'readings'] as const) : []), ...(query === true ? (['query'] as const) : [])]
  // A copy by value would be a look at a request that is watched already.
  const seen = Object.defineProperties({}, Object.getOwnPropertyDescriptors(request)) as Request
  let looked = false
  for (const name of names)
    Object.defineProperty(seen, name, {
      configurable: true,
      enumerable: true,
      get() {
        looked = true
        return request[name]
      },
    })
  return (work) => {
    looked = false
    work(seen)
    return looked
  }
}
