import { describe, expect, it } from 'vitest'
import { seeded } from '../../src/testing/random.ts'
import { carriedRegions, move, paced, steady, sun } from './carried.ts'

const SEEDS = [1, 2, 3, 4, 5, 6]

describe('regions R7: the figures of docs/regions.md', () => {
  it.each([0.95, 1.1, 1.5])(
    'after a full move of %s of the rate, 0.95 of it are used within 5 seconds, and 0.97 from then on',
    async (demand) => {
      const found = []
      for (const seed of SEEDS) found.push(await move(seed, demand, 1_000))
      const seconds = Math.max(...found.map((one) => one.seconds))
      const after = Math.min(...found.map((one) => one.after))
      process.stdout.write(`move of ${demand} r: worst of ${SEEDS.length}: ${seconds} s, then ${after.toFixed(3)} r\n`)
      expect(found.some(({ over }) => over)).toBe(false)
      expect(seconds).toBeLessThanOrEqual(5)
      expect(after).toBeGreaterThanOrEqual(0.97 * Math.min(1, demand))
    },
  )

  it.each([
    [0.95, [1 / 3, 1 / 3, 1 / 3]],
    [0.95, [0.7, 0.2, 0.1]],
    [0.95, [0.5, 0.5, 0]],
    [0.9, [0.6, 0.1, 0.1, 0.1, 0.1]],
  ])('in a steady state of %s of the rate, in parts of %j, 0.99 of the calls pass', async (demand, parts) => {
    const found = []
    for (const seed of SEEDS) found.push(await steady(seed, demand, 1_000, parts))
    const part = Math.min(...found.map((one) => one.part))
    const [rows, needs] = [Math.max(...found.map((one) => one.rows)), Math.max(...found.map((one) => one.needs))]
    process.stdout.write(
      `steady ${demand} r in ${parts.map((one) => one.toFixed(2)).join(' ')}: worst ${part.toFixed(4)}, ${rows.toFixed(2)} rows, ${needs.toFixed(2)} needs\n`,
    )
    expect(found.some(({ over }) => over)).toBe(false)
    expect(part).toBeGreaterThanOrEqual(0.99)
    expect(rows).toBeLessThanOrEqual(1)
    expect(needs).toBeLessThanOrEqual(1)
  })

  it('while the demand goes around five regions in a minute, 0.98 of the calls pass', async () => {
    const found = []
    for (const seed of SEEDS) found.push(await sun(seed, 0.95, 1_000, 60_000))
    const part = Math.min(...found.map((one) => one.part))
    process.stdout.write(`sun of 60 s, 0.95 r: worst ${part.toFixed(4)}\n`)
    expect(found.some(({ over }) => over)).toBe(false)
    expect(part).toBeGreaterThanOrEqual(0.98)
  })

  it('is never over, and open again at the end, in random histories of moves, cuts and losses', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const names = ['ap', 'eu', 'us']
      const network = carriedRegions(names, { rate: 50, burst: 80, seed, maxCells: 1, tickMs: 25 })
      const random = seeded(seed)
      const one = (): string => names[Math.floor(random() * names.length)] as string
      for (let step = 0; step < 20; step += 1) {
        const kind = random()
        const [busy, other] = [one(), one()]
        if (kind < 0.3) network.cuts.add(`${busy}>${other}`)
        else if (kind < 0.4) network.cuts.add(`${busy} reads ${other}`)
        else if (kind < 0.6) network.cuts.clear()
        else if (kind < 0.7) await network.lose(busy)
        await network.pass(random() * 3_000, () => [paced(network, busy, 100), network.call(other, 1, 'l')])
      }
      network.cuts.clear()
      await network.pass(10_000)
      expect([network.isOpen(), network.audit.worst.a <= 0], `seed ${seed}`).toEqual([true, true])
      expect(network.units().reduce((sum, units) => sum + units)).toBeLessThanOrEqual(1_000)
      await network.close()
    }
  })
})
