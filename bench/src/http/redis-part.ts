import type { Part, PartResult } from '../part.ts'
import type { Table } from '../result/table.ts'
import { EXPRESS_REDIS, FASTIFY_REDIS } from './contestants.ts'
import { databasesOf } from './databases.ts'
import { measureWeb } from './web-lanes.ts'
import { answersOf, type ContestantAnswer, webTable } from './web-table.ts'

const SCENARIOS = { quick: [EXPRESS_REDIS], full: [EXPRESS_REDIS, FASTIFY_REDIS] } as const

/** Limiters with a shared store, which every request waits for: processor time, and latency under random arrivals. */
export const redis: Part = {
  name: 'redis',
  title: 'limiters with Redis as their store before Express and Fastify: processor time and latency of a request',
  async run(options): Promise<PartResult> {
    const { url } = await options.engines.redis()
    const databases = await databasesOf(url)
    const tables: Table[] = []
    const answers: ContestantAnswer[] = []
    for (const scenario of SCENARIOS[options.depth]) {
      const measured = await measureWeb(scenario, { ...options, databases })
      tables.push({ ...webTable(measured), name: scenario.framework })
      answers.push(...answersOf(measured))
      await databases.clear()
    }
    return {
      tables,
      notes: [
        'All web servers use one private redis-server on the loopback address, each over one ioredis connection of its own. The processor time does not include that of Redis.',
        'Sluice has the defaults of its Redis store: concurrent requests share calls to Redis, and refusals are remembered in the process.',
        'For `p50` and `p99`, requests arrive at random instants, at 30 % of what the slowest server can answer. Each latency counts from the instant at which the request was due.',
        'The column `undecided` is the share of answers with 5xx: the store gave the web server no answer in time.',
      ],
      figures: answers,
    }
  },
}
