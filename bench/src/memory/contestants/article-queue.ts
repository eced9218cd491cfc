import { randomUUID } from 'node:crypto'
import { windowOf } from '../../contestants/contestant.ts'
import { atomsOf } from './atom.ts'
import { inTurn, type MemoryContestant, unitByUnitSync } from './contestant.ts'
import { PersistentQueue } from './persistent-queue.ts'

interface Entry {
  readonly id: string
  readonly at: number
}

/**
 * The queue of the article "Rate limiting in Clojure and Redis Lua": an identity and an instant for each request of the last window. A
 * request is refused if it is not the last in the queue.
 */
export const articleQueue: MemoryContestant = {
  name: 'queue, as in the article',
  kind: 'baseline',
  promise: 'log',
  open: (quotas) => {
    const limiters = quotas.map(({ burst, ...quota }) => {
      const lengthMs = windowOf({ ...quota, burst }) * 1_000
      const atomOf = atomsOf(() => new PersistentQueue<Entry>())
      return unitByUnitSync((key) => {
        const entry: Entry = { id: randomUUID(), at: Date.now() }
        const [, after] = atomOf(key).swap((queue) => {
          let kept = queue
          for (let first = kept.first(); first !== undefined && first.at <= entry.at - lengthMs; first = kept.first()) kept = kept.pop()
          return kept.size >= burst ? kept : kept.push(entry)
        })
        return after.last()?.id === entry.id
      })
    })
    return { decide: inTurn(limiters) }
  },
}
