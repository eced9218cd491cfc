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
        'One private redis-server on the loopback address; every server has one connection of its own by ioredis. The time of Redis itself is not part of the processor',
        'time. Sluice has the defaults of its store: concurrent requests share calls, and refusals are remembered. p50, p99: arrivals at random instants, at 30 % of what',
        'the slowest server answers, from the instant at which a request was due. undecided: answered with 5xx, as the store gave no answer in time.',
      ],
      figures: answers,
    }
  },
}
