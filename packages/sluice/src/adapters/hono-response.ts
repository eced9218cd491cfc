import type { Context } from 'hono'
import type { Passage } from '../http/gate.ts'
import { finishedAfter } from '../http/response-end.ts'

/**
 * Replaces the response of the context by one that gives back the request's slots, and settles its hold, when it has been sent. If an
 * outer middleware throws, or makes another response, nobody reads this response. The other response then gives back the slots and settles
 * the hold in its place.
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
      // If the body of this response is locked, the other response was made from it and reads it, so nothing has to be replaced.
      const dropped = response !== undefined && watched.body?.locked === false && response.body !== watched.body
      if (dropped) watched = finishedAfter(response, passage, c.req.raw, c)
      accessor.set?.call(c, dropped ? watched : response)
    },
  })
}

/** The property accessor of `c.res`: the one that an inner limit has defined, otherwise Hono's own. */
function accessorOf(c: Context): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(c, 'res') ?? Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), 'res')
}
