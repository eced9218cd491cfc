import type { Request } from '../../identity/request.ts'
import { watchUnread } from '../../identity/watch-unread.ts'
import { indexByCondition } from './condition-index.ts'
import { allHold, type Condition, type Truth } from './rule.ts'
import type { Sliced } from './sliced.ts'

/** Undefined if no group certainly holds, but one may hold. */
export type FirstHolding = (request: Request, count: number) => Truth

interface Group {
  readonly conditions: readonly Condition[]
  readonly index: number
}

/** The index of the first group; Infinity without a group. */
interface Compared {
  readonly holds: number
  readonly mayHold: number
  /** Index of the first group with a condition on a part of the request that could not be parsed (`unreadable`: path, query). */
  readonly unread: number
}

/** A request is compared once; every `count` uses that comparison. */
export function* indexFirst(groups: readonly (readonly Condition[])[]): Sliced<FirstHolding> {
  const things = groups.map((conditions, index) => ({ conditions, index }))
  const find = yield* indexByCondition(things, ({ conditions }) => conditions)
  const known = new WeakMap<Request, Compared>()
  return (request, count) => {
    let compared = known.get(request)
    if (compared === undefined) {
      // If the path or query could not be parsed (`unreadable`), `compare` records which groups ask for it. The index asks for all
      // parts, so it is not used then.
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

/** A cached result counts as a read too: a watcher of the request records which parts are read. */
function readAgain(request: Request): void {
  const { unreadable } = request
  if (unreadable?.path === true) void request.path
  if (unreadable?.query === true) void request.query
}
