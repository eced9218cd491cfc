import { describe, expect, it } from 'vitest'
import { carriedRegions, paced } from './carried.ts'

describe('regions R7: replicate while a link is cut', () => {
  it('shares what can be reached in equal parts while the link of two other regions is cut', async () => {
    const network = carriedRegions(['ap', 'eu', 'us'], { rate: 100, tickMs: 50 })
    while (!network.isOpen()) await network.pass(100)
    await network.pass(6_000, () => [paced(network, 'eu', 150), paced(network, 'us', 150)])
    expect(network.units()[0]).toBeLessThan(20)
    network.cuts.add('eu>us').add('us>eu')
    await network.pass(5_000, () => [paced(network, 'eu', 150), paced(network, 'us', 150)])
    await network.pass(10_000, () => ['ap', 'eu', 'us'].map((name) => paced(network, name, 150)))
    expect(Math.min(...network.units())).toBeGreaterThan(250)
    expect(network.audit.worst.a).toBeLessThanOrEqual(0)
    await network.close()
  })
})
