import { arrive, era, limit, SECOND, takeAll, written } from './write.ts'

const THIRDS = [334, 333, 333]

/**
 * Histories written by hand, each for one fault of a wrong program, of keys that are not divided. The first region holds the key at the
 * start.
 */
export const UNDIVIDED_HISTORIES = {
  'all regions call a limit of one token': written(THIRDS, [limit(1)], takeAll, true),
  'a cell moves, and an era gives it another home': written(
    [1000, 0, 0],
    [limit(1)],
    (network) => {
      network.give(0, 1, 1000)
      arrive(network, 1, 0)
      network.call(1)
      network.close(0, network.rosterOf(2, [0, 0, 1000]))
      network.check()
      era(network, [0, 0, 1000])
      network.wait(SECOND)
    },
    true,
  ),
  'the home of a cell changes while an era ends': written(
    [0, 1000],
    [limit(1)],
    (network) => {
      // Region 0 knows that it will hold the key in the next era. Region 1 does not know this yet.
      network.close(0, network.rosterOf(2, [1000, 0]))
      network.wait(2 * SECOND)
      network.check()
      takeAll(network)
    },
    true,
  ),
  'a limit is no longer divided, and had rows': written(
    THIRDS,
    [limit(30), limit(1)],
    (network) => {
      network.give(1, 2, 333)
      arrive(network, 2, 1)
      network.settle(1)
      network.wait(40 * SECOND)
      network.check()
      takeAll(network, 1)
    },
    true,
  ),
  'a limit is no longer divided while a row is on its way': written(
    THIRDS,
    [limit(30), limit(1)],
    (network) => {
      network.give(1, 2, 333)
      network.settle(1)
      arrive(network, 2, 1, 1)
      network.wait(40 * SECOND)
      network.check()
      takeAll(network, 1)
    },
    true,
  ),
  'a limit is divided, and had rows': written(
    THIRDS,
    [limit(1), limit(30)],
    (network) => {
      network.give(0, 1, 1000)
      arrive(network, 1, 0)
      network.settle(1)
      for (let times = 0; times < 3; times += 1) network.give(1, 2, 333, undefined, 0, 1)
      arrive(network, 2, 1, 1)
      network.wait(60 * SECOND)
      network.check()
      takeAll(network, 1)
    },
    true,
  ),
}
