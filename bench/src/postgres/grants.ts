import { inChild } from '../in-child.ts'
import { once } from '../once.ts'
import type { PartOptions } from '../part.ts'
import type { Depth } from '../result/suite-result.ts'
import type { AuditWayInput, PostgresGrant } from './audit-way.ts'
import type { WayName } from './ways.ts'
import type { Isolation } from './place.ts'

/** Measures the over-grant of a limiter on PostgreSQL under an isolation level, by default READ COMMITTED. */
export type PostgresGrantOf = (way: WayName, isolation?: Isolation) => Promise<PostgresGrant>

/**
 * Over-grant is measured for LENGTH seconds for each second of a comparison, but for at most MAX_SECONDS. A wrong refill shows after a
 * second or two.
 */
const LENGTH = 4
const MAX_SECONDS: Readonly<Record<Depth, number>> = { quick: 1.5, full: 3 }

/** Makes a function that returns the over-grant of a limiter. It is measured once in a run, when it is first requested. */
export function postgresGrants(url: string, options: PartOptions): PostgresGrantOf {
  const seconds = Math.min(MAX_SECONDS[options.depth], options.seconds * LENGTH)
  return (way, isolation = 'read committed') => {
    const name = `over-grant of ${way}, ${isolation}`
    return once(options, `${url} ${name}`, () => {
      options.say(name)
      const input: AuditWayInput = { url, way, isolation, seconds }
      return inChild<PostgresGrant>('audit', input, { atEnd: options.atEnd, family: 'postgres' })
    })
  }
}
