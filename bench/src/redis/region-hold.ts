import { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import { measureRegions, type RegionWork, type RegionWorkInput } from '../region-work.ts'

/** Measures what two regions write in an empty server. */
export async function measureRegionWork(input: RegionWorkInput): Promise<RegionWork> {
  const client = new Redis(input.url, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
  await client.flushall()
  const prefixOf = (region: 'a' | 'b'): string => `${region}:`
  const found = await measureRegions(
    (region) => redisStore({ client: ioredis(client), prefix: prefixOf(region), ring: false }),
    input,
    // The text of the rows with its name, and their part of the set that lists the rows by their last change.
    async (region) => {
      const names = await client.keys(`${prefixOf(region)}region:rows:*`)
      const sizes = await Promise.all(
        [...names, `${prefixOf(region)}region:cells`].map((name) => client.memory('USAGE', name, 'SAMPLES', 0)),
      )
      return { rows: names.length, bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) }
    },
  )
  await client.flushall()
  await client.quit()
  return found
}
