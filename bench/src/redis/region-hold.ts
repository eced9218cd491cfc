import { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import { measureRegions, type RegionWork, type RegionWorkInput } from '../region-work.ts'

/** Measures what two regions write in an empty server. */
export async function measureRegionWork(input: RegionWorkInput): Promise<RegionWork> {
  const client = new Redis(input.url, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
  await client.flushall()
  const prefixOf = (region: string): string => `${region}:`
  const found = await measureRegions(
    (region) => redisStore({ client: ioredis(client), prefix: prefixOf(region), ring: false }),
    input,
    // The hash of all rows, and the lists of the numbers of their last changes.
    async (region) => {
      const rows = `${prefixOf(region)}region:rows`
      const lists = await client.keys(`${prefixOf(region)}region:cells*`)
      const sizes = await Promise.all([rows, ...lists].map((name) => client.memory('USAGE', name, 'SAMPLES', 0)))
      return { rows: await client.hlen(rows), bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) }
    },
  )
  await client.flushall()
  await client.quit()
  return found
}
