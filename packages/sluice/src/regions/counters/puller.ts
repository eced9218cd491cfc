import type { MonotonicInstant } from '../../time/time.ts'
import type { Counters } from './counters.ts'
import { readSpendPage, spendRequest } from './messages.ts'
import type { Position } from '../replicator/message-reader.ts'
import { createPuller, type Puller, type PullerParts, requireProgress, type Send } from '../replicator/puller.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

export interface SpendPuller {
  readonly puller: Puller
  /** The peer's run (store lifetime) as last read; undefined before the first answer. */
  run(): Run | undefined
}

/** After a failure the wait is as short as always, because a region that cannot read a peer for `cutoffMs` grants less. */
export function createSpendPuller(self: Region, counters: Counters, parts: PullerParts): SpendPuller {
  const { peer } = parts
  let position: Position | undefined
  const pull = async (send: Send, began: MonotonicInstant): Promise<void> => {
    let read = position
    let fits = true
    for (;;) {
      const page = readSpendPage(await send(spendRequest({ from: self, to: peer, read })), peer, self)
      requireProgress(peer, page.cursor, read?.run === page.run ? read.at : 0, page.all)
      fits = counters.receive(peer, page.run, page) && fits
      // Pages of a peer's new run (store lifetime) begin with the first row, whatever position was requested.
      read = { run: page.run, at: page.cursor }
      if (fits) position = read
      if (!page.all) continue
      if (!fits) throw new Error(`region ${self} has no room for the states of all keys that ${peer} has`)
      // The pages were made after the pull began, so they contain all that was spent by then.
      return counters.complete(peer, page.run, page.births, began)
    }
  }
  return { puller: createPuller(parts, pull, () => 1), run: () => position?.run }
}
