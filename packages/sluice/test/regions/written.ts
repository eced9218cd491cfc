import { MICRO } from '../../src/algorithms/decimal.ts'
import type { Programs } from './site.ts'
import { arrive, era, HALVES, heal, limit, type Result, SECOND, takeAll, written } from './write.ts'

/** Histories written by hand, each the shortest that shows one fault of a wrong program. */
export const HISTORIES = {
  'both regions see a key first': written(HALVES, [limit(30)], (network) => {
    takeAll(network)
  }),
  'units without tokens for a full bucket': written(HALVES, [limit(20)], (network) => {
    network.call(0)
    // The receiver has a state, and is full again.
    network.call(1, MICRO)
    network.wait(4 * SECOND)
    network.call(0)
    network.give(0, 1, 400)
    arrive(network, 1, 0)
    takeAll(network)
  }),
  'units without tokens for a key without a state': written(HALVES, [limit(20)], (network) => {
    network.call(0)
    network.give(0, 1, 400)
    arrive(network, 1, 0)
    takeAll(network)
  }),
  'a lowered limit while tokens are on their way': written(HALVES, [limit(33), limit(14)], (network) => {
    network.give(0, 1, 250)
    network.settle(1)
    network.call(0, undefined, 0, 1)
    network.give(0, 1, 250, 0, 0, 1)
    arrive(network, 1, 0, 1)
    takeAll(network, 1)
  }),
  'a lowered limit after a transfer': written(HALVES, [limit(60), limit(20)], (network) => {
    network.give(0, 1, 500)
    arrive(network, 1, 0)
    network.settle(1)
    network.wait(60 * SECOND)
    network.check()
    takeAll(network, 1)
  }),
  'a snapshot is restored': written(HALVES, [limit(29)], (network) => {
    network.snapshot(0)
    network.call(0)
    network.replace(0, true)
    takeAll(network)
    heal(network)
  }),
  'a store is lost': written(HALVES, [limit(32)], (network) => {
    network.call(1)
    network.replace(1, false)
    takeAll(network)
    heal(network)
  }),
  'a store is lost, and its weight returns later': written(HALVES, [limit(32)], (network) => {
    takeAll(network)
    // Region 1 sends all its units, and then its store is lost. So region 0 is refilled at the whole rate meanwhile.
    network.give(1, 0, 500)
    arrive(network, 0, 1)
    network.replace(1, false)
    network.check()
    network.wait(4 * SECOND)
  }),
  'a row of a lost store arrives late': written(HALVES, [limit(20)], (network) => {
    network.give(0, 1, 500)
    network.pull(1, 0)
    const [row] = network.queue.splice(0)
    network.replace(0, false)
    heal(network)
    if (row !== undefined) network.queue.push(row)
    network.deliverAll()
    network.wait(20 * SECOND)
    takeAll(network)
  }),
  'two of three stores are restored': written([400, 300, 300], [limit(30)], (network) => {
    network.snapshot(0)
    network.snapshot(1)
    network.give(0, 1, 200)
    network.give(1, 2, 100)
    network.pull(1, 0)
    network.pull(2, 1)
    network.replace(0, true)
    network.replace(1, true)
    network.deliverAll()
    heal(network)
  }),
  'all stores are lost, and a row of before arrives': written(HALVES, [limit(20)], (network) => {
    era(network, HALVES)
    network.give(0, 1, 500)
    network.pull(1, 0)
    const [row] = network.queue.splice(0)
    network.replace(0, false)
    network.replace(1, false)
    heal(network)
    network.wait(20 * SECOND)
    if (row !== undefined) network.queue.push(row)
    network.deliverAll()
    takeAll(network)
    network.wait(20 * SECOND)
    takeAll(network)
  }),
  'a row of an earlier era arrives': written(HALVES, [limit(30)], (network) => {
    network.give(0, 1, 400)
    network.pull(1, 0)
    const [row] = network.queue.splice(0)
    network.deliverAll()
    era(network, HALVES)
    if (row !== undefined) network.queue.push(row)
    network.deliverAll()
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'an era moves most units to one region': written(HALVES, [limit(30)], (network) => {
    network.close(0, network.rosterOf(2, [900, 100]))
    // Region 0 reads that region 1 is still open. Then it reads that region 1 is closed, and begins the next era alone.
    arrive(network, 0, 1)
    network.open(0)
    network.wait(30 * SECOND)
    network.check()
    arrive(network, 1, 0)
    arrive(network, 0, 1)
    network.open(0)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a closed region receives units': written(HALVES, [limit(30)], (network) => {
    network.give(1, 0, 400)
    network.pull(0, 1)
    network.close(0)
    network.deliverAll()
    arrive(network, 1, 0)
    arrive(network, 0, 1)
    arrive(network, 1, 0)
    network.open(1)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a roster gives one region everything': written([334, 333, 333], [limit(40)], (network) => {
    network.call(0)
    era(network, [0, 0, 1000])
    takeAll(network)
  }),
  'an era passes between two calls': written([100, 900], [limit(100)], (network) => {
    takeAll(network)
    era(network, [900, 100])
    // Region 0 knows the era, region 1 does not yet.
    network.call(0, MICRO)
    network.wait(10 * SECOND)
    takeAll(network)
  }),
  'a state expires soon after its share was raised': written([200, 800], [limit(100)], (network) => {
    takeAll(network)
    network.wait(50 * SECOND)
    network.call(1)
    era(network, [800, 200])
    network.wait(50 * SECOND)
    network.sweep(0)
    takeAll(network)
  }),
  'a share is raised twice': written([0, 1000], [limit(100)], (network) => {
    takeAll(network)
    era(network, [500, 500])
    era(network, [1000, 0], 3)
    takeAll(network)
  }),
  'rows arrive in another order': written(HALVES, [limit(20)], (network) => {
    const rows = [1, 2].map(() => {
      network.give(0, 1, 200)
      network.pull(1, 0)
      return network.queue.splice(0).slice(0, 1)
    })
    network.queue.push(...rows.flat(), ...rows.flat())
    network.deliver()
    network.deliver()
    takeAll(network)
    network.deliverAll()
    takeAll(network)
  }),
  'all tokens with few units': written(HALVES, [limit(30)], (network) => {
    network.give(0, 1, 1)
    network.wait(30 * SECOND)
    network.check()
    takeAll(network)
    arrive(network, 1, 0)
    takeAll(network)
  }),
  'a limit returns that takes longer to fill': written([1000, 0], [limit(100), limit(10)], (network) => {
    era(network, [900, 100])
    network.wait(80 * SECOND)
    network.call(0)
    network.call(0, MICRO, 0, 1)
    network.wait(30 * SECOND)
    network.sweep(0)
    takeAll(network)
  }),
  'a hello of a dead run arrives': written(HALVES, [limit(20)], (network) => {
    network.replace(0, false)
    network.pull(0, 1)
    // Question, invitation and status; then the hello, which is late.
    while (network.queue.some(({ kind }) => kind !== 'hello')) network.deliver(network.queue.findIndex(({ kind }) => kind !== 'hello'))
    const late = network.queue.splice(0)
    network.replace(0, false)
    network.pull(0, 1)
    network.deliverAll()
    network.queue.push(...late)
    network.deliverAll()
    heal(network)
  }),
  'a region is gone for good, and another run of it joins later': written([400, 300, 300], [limit(30)], (network) => {
    takeAll(network)
    network.die(2)
    network.adopt(0, 2)
    for (let round = 0; round < 3; round += 1) network.round()
    network.wait(10 * SECOND)
    takeAll(network)
    network.replace(2, false)
    heal(network)
    era(network, [400, 300, 300], 3)
    network.wait(10 * SECOND)
    network.call(0)
  }),
  'a region is said to be gone after another run of it has joined': written(HALVES, [limit(30)], (network) => {
    network.die(1)
    network.replace(1, false)
    heal(network)
    network.adopt(0, 1)
    network.open(0)
    network.wait(30 * SECOND)
    takeAll(network)
  }),
  'a new run learns of a region that is gone': written([400, 300, 300], [limit(30)], (network) => {
    network.die(2)
    network.replace(2, false)
    heal(network)
    // Region 1 is lost. It learns that an earlier run of region 2 is gone. The present server of region 2 goes on, and reads nobody.
    for (const region of [0, 1]) network.cut(region, 2)
    network.replace(1, false)
    network.adopt(0, 2)
    for (let round = 0; round < 3; round += 1) {
      arrive(network, 1, 0)
      arrive(network, 0, 1)
      for (const region of [1, 0]) network.open(region)
    }
    network.wait(30 * SECOND)
    takeAll(network)
    for (const region of [0, 1]) network.heal(region, 2)
  }),
  'a limit is raised after an era': written([1000, 0], [limit(30), limit(40)], (network) => {
    network.call(0, undefined, 0, 1)
    era(network, [0, 1000])
    network.wait(10 * SECOND)
    network.call(1)
    // By the lower limit the bucket is full, and by the higher one it is not.
    network.wait(35 * SECOND)
    network.check()
  }),
} satisfies Record<string, (programs: Programs) => Result>
