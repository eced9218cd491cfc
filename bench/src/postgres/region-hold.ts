import { pg, postgresStore } from 'sluice/postgres'
import { measureRegions, REGIONS, type RegionWork, type RegionWorkInput } from '../region-work.ts'
import { placeOf } from './place.ts'

const CONNECTIONS = 8

/** Measures what two regions write in tables of their own. */
export async function measureRegionWork(input: RegionWorkInput): Promise<RegionWork> {
  const place = await placeOf({ url: input.url, way: 'region_rows', isolation: 'read committed' }, 'work')
  const pool = place.pool(CONNECTIONS)
  try {
    for (const table of REGIONS) await postgresStore({ client: pg(pool), table }).migrate()
    return await measureRegions(
      (region) => postgresStore({ client: pg(pool), table: region, ring: false, sweepEveryMs: 0 }),
      input,
      async (region, live) => {
        if (live === true) await pool.query(`vacuum full ${region}_cell`)
        const { rows } = await pool.query<{ rows: number; bytes: number }>(
          `select count(*)::int as rows, pg_total_relation_size('${region}_cell')::int as bytes from ${region}_cell`,
        )
        return rows[0] ?? { rows: 0, bytes: 0 }
      },
    )
  } finally {
    await pool.end()
    await place.drop()
  }
}
