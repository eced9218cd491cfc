import type { Request } from '../../identity/request.ts'
import { watchUnread } from '../../identity/watch-unread.ts'
import { indexByCondition } from './condition-index.ts'
import { allHold, type Condition, type Truth } from './rule.ts'
import type { Sliced } from './sliced.ts'

/**
 * Whether all conditions of one of the first `count` groups hold; a group is a list of conditions. Undefined if no group certainly holds,
 * but one may hold.
 */
export type FirstHolding = (request: Request, count: number) => Truth

interface Group {
  readonly conditions: readonly Condition[]
  readonly index: number
}

/**
 * The result of comparing a request with the groups: the indexes of the first group that holds, and of the first that may hold. Infinity
 * if no group does.
 */
interface Compared {
  readonly holds: number
  readonly mayHold: number
  /** The index of the first group that reads an unreadable part of the request. */
  readonly unread: number
}

/** Compares a request with the groups only once, and derives the result for every `count` from that comparison. */
export function* indexFirst(groups: readonly (readonly Condition[])[]): Sliced<FirstHolding> {
  const things = groups.map((conditions, index) => ({ conditions, index }))
  const find = yield* indexByCondition(things, ({ conditions }) => conditions)
  const known = new WeakMap<Request, Compared>()
  return (request, count) => {
    let compared = known.get(request)
    if (compared === undefined) {
      // If a request has an unreadable part, reads of that part are watched. The index would read every source, so it is not used then.
      compared = compare(request.unreadable === undefined ? find(request) : things, request)
      known.set(request, compared)
    }
    const { holds, mayHold, unread } = compared
    if (unread < count) readAgain(request)
    return holds < count ? true : mayHold < count ? undefined : false
  }
}

function compare(groups: readonly Group[], request: Request): Compared {
  const readsUnread = request.unreadable === undefined ? undefined : watchUnread(request)
  let [mayHold, unread] = [Infinity, Infinity]
  for (const { conditions, index } of groups) {
    let truth: Truth
    if (readsUnread === undefined) truth = allHold(conditions, request)
    else if (readsUnread((seen) => void (truth = allHold(conditions, seen)))) unread = Math.min(unread, index)
    if (truth === true) return { holds: index, mayHold, unread }
    if (truth === undefined) mayHold = Math.min(mayHold, index)
  }
  return { holds: Infinity, mayHold, unread }
}

/** Reads the unreadable parts again, because the watcher of the request must see a read even if the result was cached. */
function readAgain(request: Request): void {
  const { unreadable } = request
  if (unreadable?.path === true) void request.path
  if (unreadable?.query === true) void request.query
}
