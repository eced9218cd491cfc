import type { Context } from 'hono'
import type { Passage } from '../http/gate.ts'
import { finishedAfter } from '../http/response-end.ts'

/**
 * Gives back slots and settles the charge when the context's response was sent. If an outer middleware throws or replaces the response,
 * nobody reads the first one. So the setter of `c.res` watches the replacement instead.
 */
export function finishWithResponse(c: Context, passage: Passage): void {
  let watched = finishedAfter(c.res, passage, c.req.raw, c)
  // Hono copies the fields of a response that is replaced, so it is removed first.
  c.res = undefined
  c.res = watched
  const accessor = accessorOf(c)
  if (accessor === undefined) return
  Object.defineProperty(c, 'res', {
    configurable: true,
    get: () => accessor.get?.call(c) as unknown,
    set(response: Response | undefined) {
      // If the body is locked, the new response reads the watched one, and needs no wrapper.
      const dropped = response !== undefined && watched.body?.locked === false && response.body !== watched.body
      if (dropped) watched = finishedAfter(response, passage, c.req.raw, c)
      accessor.set?.call(c, dropped ? watched : response)
    },
  })
}

/** An inner limit may have defined an own accessor already. */
function accessorOf(c: Context): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(c, 'res') ?? Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), 'res')
}
