import { carriedRegions, paced } from './carried.ts'

export const NAMES = ['ap', 'eu', 'us'] as const
export const RATE = 1_000
/** What happens, with the second at which it begins. */
export const EVENTS = [
  { at: 0, text: 'all calls in ap' },
  { at: 10, text: 'all in eu' },
  { at: 25, text: 'eu cut off' },
  { at: 35, text: 'a third in us' },
  { at: 50, text: 'links healed' },
] as const
const END = 65
const STEP_MS = 500

/** For one half second: how many calls a second each region admitted, and how many units it held at the end. */
export interface Sample {
  readonly second: number
  readonly region: (typeof NAMES)[number]
  readonly perSecond: number
  readonly units: number
}

/**
 * Runs three regions with a demand of 0.95 of the rate, which moves between them. One region is cut off for a while. The figures are the
 * same in every run.
 */
export async function movedDemand(): Promise<Sample[]> {
  const network = carriedRegions(NAMES, { seed: 1, rate: RATE })
  while (!network.isOpen()) await network.pass(100)
  const samples: Sample[] = []
  for (let second = 0; second < END; second += STEP_MS / 1_000) {
    if (second === 25) for (const link of ['eu>ap', 'eu>us', 'ap>eu', 'us>eu']) network.cuts.add(link)
    if (second === 50) network.cuts.clear()
    const demand = second < 10 ? { ap: 0.95 } : second < 35 ? { eu: 0.95 } : { eu: 0.6, us: 0.35 }
    const passed: Record<string, number> = {}
    await network.pass(STEP_MS, () => {
      for (const [name, part] of Object.entries(demand)) passed[name] = (passed[name] ?? 0) + paced(network, name, part * RATE)
    })
    const units = network.units()
    const seconds = STEP_MS / 1_000
    for (const [index, region] of NAMES.entries())
      samples.push({ second: second + seconds, region, perSecond: (passed[region] ?? 0) / seconds, units: units[index] as number })
  }
  await network.close()
  if (network.audit.worst.a > 0) throw new Error('the regions admitted more than the limit')
  return samples
}
