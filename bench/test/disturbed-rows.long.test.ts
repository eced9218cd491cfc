import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ColdInput } from '../src/cold/sample.ts'
import type { OpenLane } from '../src/open/rounds.ts'

/** Each metered time counts as one percent of steal. */
vi.mock('../src/machine/disturbance.ts', async (original) => ({
  ...(await original<object>()),
  disturbanceMeter: () => {
    let times = 0
    return { begin: () => undefined, end: () => (times += 1), result: () => ({ stealPercent: times, othersPercent: times === 1 ? 9 : 0 }) }
  },
}))
vi.mock('../src/in-child.ts', () => ({ outputOf: async () => '{}' }))

// Files of one worker share their modules. Another file may have loaded the real ones, and later ones need them.
vi.resetModules()
afterAll(() => vi.resetModules())
const { coldRounds } = await import('../src/cold/rounds.ts')
const { interleave } = await import('../src/interleave.ts')
const { openRounds } = await import('../src/open/rounds.ts')
const { climb } = await import('../src/seed-000/steps.ts')

const ROUND = { latency: { p99: 1_000 }, refused: 0 }
const lane = (name: string): OpenLane => ({
  name,
  invoke: async ({ what }) => (what === 'capacity' ? 1_000 : ROUND),
  kill: () => undefined,
})

describe('what else used the machine is known', () => {
  it('of lanes in one process, for all of their rounds together', async () => {
    const timed = await interleave([{ name: 'A', run: () => 1 }], { calls: 1, warmUp: 0, seconds: 0 })
    expect(timed[0]).toMatchObject({ disturbed: 'other processes 9 %' })
  })

  it('of each way under each open load, and of its capacity with the load under a limit', async () => {
    const options = { seconds: 0.003, depth: 'quick', own: false, say: () => undefined, atEnd: () => undefined } as const
    const { timed, limited } = await openRounds([lane('Lua'), lane('Sluice')], options)
    expect(timed).toMatchObject(Array.from({ length: 4 }, () => ({ disturbed: 'steal 3 %' })))
    expect(limited).toEqual([{ disturbed: 'steal 4 %' }, { disturbed: 'steal 4 %' }])
  })

  it('of each step of a climb', async () => {
    expect(await climb([lane('Lua')], [1_000], { ms: 1, boundMs: 10, seed: 1 })).toMatchObject([{ disturbed: 'steal 13 %' }])
  })

  it('of the counted cold processes of each way', async () => {
    const inputs = [
      { way: 'bare', engine: 'redis' },
      { way: 'sluice', engine: 'redis' },
    ] as ColdInput[]
    const timed = await coldRounds(inputs, { seconds: 0, depth: 'full', atEnd: () => undefined })
    expect(timed).toMatchObject([{ disturbed: 'steal 5 %' }, { disturbed: 'steal 5 %' }])
  })
})
