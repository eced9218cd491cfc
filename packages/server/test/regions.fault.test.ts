import { expect, it } from 'vitest'
import { overOf } from './over.ts'
import { policyFiles } from './policy-file.ts'
import { type Name, NAMES, soon, startTwoRegions } from './two-regions.ts'

const file = policyFiles()
const [RATE, BURST] = [100, 100]
const POLICY = `version: 1\nrules: [{ name: user, key: ["header:x-user"], rate: ${RATE}/s, burst: ${BURST} }]\n`
const KEY = 'a-key-of-regions-of-32-characters-or-more'

it('regions: two services share a limit over HTTP: units move, links are cut and healed, one is killed: 0 over', async () => {
  const regions = await startTwoRegions(file(POLICY), file(KEY))
  const { links, services, passed, load, isOpen } = regions
  const received = (name: Name): Promise<number> => regions.metric(name, 'sluice_region_units_total{direction="received"}')
  try {
    await load(NAMES, isOpen)
    await load(['eu'], async () => (await received('eu')) >= 400)
    await load(['us'], async () => (await received('us')) >= 800)
    for (const name of NAMES) links[name].set({ passes: 'no-connection' })
    await load(NAMES, soon(3_000))
    links.eu.set({ passes: 'all', delayMs: 50 })
    await load(NAMES, soon(2_000))
    links.us.set({ passes: 'nothing' })
    await load(['eu'], soon(2_000))
    for (const name of NAMES) links[name].set({ passes: 'all', delayMs: 20 })
    const before = await received('eu')
    await load(['eu'], async () => (await received('eu')) > before)
    await services.us.stop('SIGKILL')
    await load(['eu'], soon(2_000))
    await regions.restart('us')
    await load(NAMES, isOpen)
    await load(NAMES, soon(3_000))
    const calls = passed.map(({ sent, answered }) => [sent, answered] as const)
    expect(overOf(calls, RATE, BURST)).toBeLessThanOrEqual(0)
    // The audit would be empty if nothing had passed.
    expect(passed.length).toBeGreaterThan(5 * RATE)
    expect(services.eu.output()).toContain('region us cannot be read')
    expect(services.eu.output()).toContain('region us can be read again')
  } finally {
    await regions.stop()
  }
}, 120_000)
