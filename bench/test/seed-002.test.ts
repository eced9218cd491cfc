import { describe, expect, it } from 'vitest'
import { contestantOf } from '../src/memory/contestants/all.ts'
import { PersistentQueue } from '../src/memory/contestants/persistent-queue.ts'
import { auditPeer } from '../src/memory/peer-audit.ts'
import { admittedPlot, boundaryTable } from '../src/seed-002/boundaries.ts'
import { playBoundaries } from '../src/seed-002/boundary.ts'
import { IN_PROCESS } from '../src/seed-002/contestants.ts'
import { BOUNDARY_LOADS } from '../src/seed-002/loads.ts'
import { polled, pollSluice } from '../src/seed-002/polls.ts'
import { pollPlot, pollTable } from '../src/seed-002/redis-lua.ts'

describe('the article’s limiters in process', () => {
  it('a queue that never changes: first in, first out, with its last item', () => {
    const empty = new PersistentQueue<number>()
    const three = empty.push(1).push(2).push(3)
    expect([three.size, three.first(), three.last()]).toEqual([3, 1, 3])
    const [two, one] = [three.pop(), three.pop().pop()]
    expect([two.first(), two.last(), one.first(), one.last(), one.pop().size, one.pop().first()]).toEqual([2, 3, 3, 3, 0, undefined])
    expect([empty.last(), empty.pop().size, three.size]).toEqual([undefined, 0, 3])
  })

  it.each(IN_PROCESS)('%s keeps its promise', async (name) => {
    expect((await auditPeer(contestantOf(name), 10_000)).overGrantPercent).toBe(0)
  })
})

describe('boundaries on a controlled clock', () => {
  // Once for all tests.
  let played: ReturnType<typeof playBoundaries> | undefined
  const boundaries = () => (played ??= playBoundaries({ contestants: IN_PROCESS }))
  const allowed = async (load: number) => {
    const results = await boundaries()
    return Object.fromEntries(
      results
        .filter((result) => result.load === BOUNDARY_LOADS[load]?.name)
        .map(({ contestant, allowed: instants }) => [contestant, instants]),
    )
  }
  const counted = async (load: number) =>
    Object.fromEntries(Object.entries(await allowed(load)).map(([name, instants]) => [name, instants.length]))

  it('a window lets 20 through within two seconds, a queue and a log 10', async () => {
    expect(await counted(0)).toEqual({
      'article-bucket': 10,
      'sluice-bucket': 10,
      'article-window': 20,
      'sluice-window': 20,
      'article-queue': 10,
      'sluice-log': 10,
    })
  })

  it('an entry of the queue leaves exactly a window later, as in a log', async () => {
    const { 'article-queue': queue, 'sluice-log': log } = await allowed(1)
    expect(queue?.slice(10)).toEqual([60_000, 60_001])
    expect(log).toEqual(queue)
  })

  it('the article’s bucket keeps its last token', async () => {
    expect(await counted(2)).toMatchObject({ 'article-bucket': 9, 'sluice-bucket': 10, 'article-window': 10 })
    expect(await counted(3)).toMatchObject({ 'article-bucket': 20, 'sluice-bucket': 21 })
  })

  it('the table compares each with its counterpart, and the plot counts what was allowed so far', async () => {
    const results = await boundaries()
    const { rows } = boundaryTable(results)
    expect(rows).toHaveLength(BOUNDARY_LOADS.length * IN_PROCESS.length)
    expect(rows.find(({ load, name }) => load === BOUNDARY_LOADS[2]?.name && name.startsWith('bucket'))?.cells).toMatchObject({
      offered: 11,
      allowed: 9,
      exact: 10,
      under: expect.closeTo(10, 9),
    })
    expect(rows.every((row) => 'overGrant' in row && row.overGrant === 0)).toBe(true)
    const { series } = admittedPlot('admitted', BOUNDARY_LOADS[0]?.name ?? '', results)
    expect(series.find(({ name }) => name.startsWith('window'))?.points).toEqual([
      { x: 59, y: 0 },
      { x: 59, y: 10 },
      { x: 60, y: 20 },
    ])
  })
})

describe('polls', () => {
  it('an exact bucket grants no more than its rate, however often it is called; one that grants all is found', async () => {
    for (const every of [100, 500, 1_000]) expect((await pollSluice(every)).overGrantPercent).toBe(0)
    const wrong = await polled(500, () => true)
    expect(wrong).toMatchObject({ requests: 200, allowed: 200 })
    expect(wrong.overGrantPercent).toBeGreaterThan(50)
    expect(pollTable([wrong], [wrong]).rows.map(({ load }) => load)).toEqual(['every 500 ms', 'every 500 ms'])
    expect(pollPlot([wrong], []).series[0]?.points).toEqual([{ x: 500, y: wrong.overGrantPercent }])
  })
})
