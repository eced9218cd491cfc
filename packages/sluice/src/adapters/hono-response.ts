import type { Context } from 'hono'
import type { Passage } from '../http/gate.ts'
import { finishedAfter } from '../http/response-end.ts'

/**
 * Replaces the context's response by a wrapped one. When that has been sent, the request's concurrency slots are given back, and its hold
 * (tokens charged before the response) is settled. If an outer middleware throws or makes another response, nobody reads the wrapped one.
 * The other response is then wrapped in its place.
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
      // A locked body means that the new response was made from the wrapped one and reads its body. Then the new response needs no wrapper.
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
