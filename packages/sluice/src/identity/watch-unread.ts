import type { Request } from './request.ts'

/** Runs work on a request and returns whether it read an unreadable part. */
export type Watch = (work: (seen: Request) => void) => boolean

/** Detects whether work reads an unreadable part. A list of sources instead could miss one, and let requests escape its rules. */
export function watchUnread(request: Request): Watch {
  const { path, query } = request.unreadable ?? {}
  const names = [...(path === true ? (['path', 'exactPath', 'readings'] as const) : []), ...(query === true ? (['query'] as const) : [])]
  // Copy property descriptors, not values: reading a value would count as a read if the request is already watched.
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
