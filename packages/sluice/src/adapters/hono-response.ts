import type { Context } from 'hono'
import type { Passage } from '../http/gate.ts'
import { finishedAfter } from '../http/response-end.ts'

/**
 * Replaces the response of the context by one that gives back the request's slots, and settles its hold, when it has been sent. If a
 * middleware around the limit throws, or makes another response, nobody reads this one. Then the other response does so in its place.
 */
export function finishWithResponse(c: Context, passage: Passage): void {
  let watched = finishedAfter(c.res, passage, c.req.raw, c)
  // Removes the present response first, because Hono copies the fields of a response that is replaced.
  c.res = undefined
  c.res = watched
  const accessor = accessorOf(c)
  if (accessor === undefined) return
  Object.defineProperty(c, 'res', {
    configurable: true,
    get: () => accessor.get?.call(c) as unknown,
    set(response: Response | undefined) {
      // A body that is locked is read by whoever made the other response from it.
      const dropped = response !== undefined && watched.body?.locked === false && response.body !== watched.body
      if (dropped) watched = finishedAfter(response, passage, c.req.raw, c)
      accessor.set?.call(c, dropped ? watched : response)
    },
  })
}

/** The accessor of `c.res`: that of an inner limit, or Hono's own. */
function accessorOf(c: Context): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(c, 'res') ?? Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), 'res')
}
