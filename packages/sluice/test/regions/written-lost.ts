import type { Network } from './network.ts'
import type { Programs } from './site.ts'
import { arrive, HALVES, limit, type Result, SECOND, takeAll, written } from './write.ts'

/** Histories written by hand in which a region is gone for good, or lacks in a roster, while an era ends. */
export const LOST_HISTORIES = {
  'rows of a run arrive after it is gone': written(HALVES, [limit(30)], (network) => {
    network.close(0, network.rosterOf(2, [500, 500]))
    arrive(network, 1, 0)
    arrive(network, 0, 1)
    network.open(0)
    network.give(0, 1, 400)
    network.pull(1, 0)
    const late = network.queue.splice(0).filter(({ kind }) => kind === 'row')
    network.die(0)
    network.adopt(1, 0)
    network.open(1)
    network.queue.push(...late)
    network.deliverAll()
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a run has begun an era, and is gone by another roster of it': written([400, 300, 300], [limit(30)], (network) => {
    passOver(network)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a roster is newer than the one that names a run gone': written([400, 300, 300], [limit(30)], (network) => {
    passOver(network, () => network.close(2, network.rosterOf(8, [200, 300, 500])))
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a region that is not in the roster reads of the next one': written(HALVES, [limit(30)], (network) => {
    network.close(0, { version: 2, weights: new Map([['r0', 1000]]) })
    arrive(network, 1, 0)
    arrive(network, 0, 1)
    network.open(0)
    network.close(0, network.rosterOf(3, [500, 500]))
    arrive(network, 1, 0)
    network.open(1)
    network.close(0, network.rosterOf(4, [1000, 0]))
    network.open(0)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a region that was removed is added again, after another one lost its store': written([400, 300, 300], [limit(30)], (network) => {
    const rounds = () => [1, 2, 3].forEach(() => network.round())
    const weights = new Map([
      ['r0', 500],
      ['r1', 500],
    ])
    network.close(0, { version: 2, weights })
    rounds()
    network.replace(0, false)
    arrive(network, 0, 1)
    rounds()
    network.close(0, network.rosterOf(9, [400, 300, 300]))
    rounds()
    network.give(2, 0, 100)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
} satisfies Record<string, (programs: Programs) => Result>

/**
 * Region 0 begins an era and dies. Regions 1 and 2 do not know this, and agree on another roster without region 0. Region 1 begins the era
 * by that roster. Then a late message of region 0 reaches region 2.
 * @param before what happens before this message arrives
 */
function passOver(network: Network, before?: () => void): void {
  network.close(0, network.rosterOf(2, [200, 300, 500]))
  arrive(network, 1, 0)
  arrive(network, 2, 0)
  arrive(network, 0, 1)
  arrive(network, 0, 2)
  network.open(0)
  network.pull(2, 0)
  const late = network.queue.splice(0)
  network.die(0)
  network.adopt(1, 0)
  arrive(network, 2, 1)
  arrive(network, 1, 2)
  network.open(1)
  before?.()
  network.queue.push(...late)
  network.deliverAll()
  network.open(2)
}
