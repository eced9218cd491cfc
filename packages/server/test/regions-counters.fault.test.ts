import { expect, it } from 'vitest'
import { overOf } from './over.ts'
import { policyFiles } from './policy-file.ts'
import { type Name, NAMES, soon, startTwoRegions } from './two-regions.ts'

const file = policyFiles()
const [RATE, BURST, CUTOFF_S] = [100, 100, 3]
/**
 * By how many tokens two regions may exceed the limit: B + r D, where B is the burst, r the rate, and D the delay between regions. D is at
 * most the cutoff.
 */
const BOUND = BURST + RATE * CUTOFF_S
const POLICY = `version: 1
regions: { peers: [eu, us], mode: counters, cutoff: ${CUTOFF_S}s }
rules: [{ name: user, key: ["header:x-user"], rate: ${RATE}/s, burst: ${BURST} }]
`
const KEY = 'a-key-of-regions-of-32-characters-or-more'

it('counters: two services exceed a limit by at most B + r D, pay it back, and keep to their parts while links are cut', async () => {
  const regions = await startTwoRegions(file(POLICY), file(KEY))
  const { links, services, passed, load, isOpen, metric } = regions
  const all = (): (readonly [number, number])[] => passed.map(({ sent, answered }) => [sent, answered])
  /** How many calls of a region passed per second since an instant. */
  const rateOf = (name: Name, from: number): number =>
    (1_000 * passed.filter((call) => call.name === name && call.sent >= from).length) / (performance.now() - from)
  const cutOff = async (): Promise<boolean> =>
    (await Promise.all(NAMES.map((name) => metric(name, 'sluice_region_phase')))).every((phase) => phase === 2)
  try {
    await load(NAMES, isOpen)
    await load(NAMES, soon(3_000))
    // If only one region has traffic, it can use the whole limit. In mode escrow, the other region would first have to send its part of the
    // limit.
    await load(['eu'], soon(3_000))
    const rateAlone = async (): Promise<number> => {
      const alone = performance.now()
      await load(['eu'], soon(3_000))
      return rateOf('eu', alone)
    }
    // If the machine stops at the end of these 3 s, the next ones count.
    await expect.poll(rateAlone).toBeGreaterThan(0.9 * RATE)

    for (const name of NAMES) links[name].set({ passes: 'no-connection' })
    await load(NAMES, cutOff)
    const cut = performance.now()
    await load(NAMES, soon(5_000))
    // Regions that are cut off grant only their parts: half of the rate and of the burst. A part may be full at first. A region may also
    // still pay back its debt, and then grants less.
    for (const name of NAMES) expect(rateOf(name, cut)).toBeLessThanOrEqual(RATE / 2 + BURST / 2 / 5)
    expect(passed.filter(({ sent }) => sent >= cut).length).toBeGreaterThan(RATE)

    // One way: us can be read, eu cannot.
    links.us.set({ passes: 'all', delayMs: 20 })
    await load(NAMES, soon(4_000))
    links.eu.set({ passes: 'all', delayMs: 20 })
    await load(NAMES, isOpen)
    await load(NAMES, soon(4_000))
    expect(overOf(all(), RATE, BURST)).toBeLessThanOrEqual(BOUND)
    expect(overOf(all(), RATE, BURST)).toBeGreaterThan(0)
    // Debts are not forgotten. So both regions together have granted, since the first call, what one limit grants, and at most the bound in
    // addition.
    const first = passed[0]?.sent ?? 0
    expect(passed.length).toBeLessThanOrEqual((RATE * (performance.now() - first)) / 1_000 + BURST + BOUND)

    // The store of us is in the memory of its process, and is lost with it. So an interval that contains this may have the burst and the
    // bound once more.
    await services.us.stop('SIGKILL')
    await load(['eu'], soon(4_000))
    await regions.restart('us')
    await load(NAMES, isOpen)
    const whole = performance.now()
    await load(NAMES, soon(4_000))
    expect(overOf(all(), RATE, BURST)).toBeLessThanOrEqual(BURST + 2 * BOUND)
    const later = all().filter(([sent]) => sent >= whole)
    expect(later.length).toBeGreaterThan(RATE)
    expect(overOf(later, RATE, BURST)).toBeLessThanOrEqual(BOUND)
    expect(services.eu.output()).toContain('region us cannot be read')
    expect(services.eu.output()).toContain('region us can be read again')
  } finally {
    await regions.stop()
  }
}, 120_000)
