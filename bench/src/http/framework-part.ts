import type { Part } from '../part.ts'
import { EXPRESS, FASTIFY, HONO, type WebScenario } from './contestants.ts'
import { measureWeb } from './web-lanes.ts'
import { answersOf, fieldNotes, webTable } from './web-table.ts'

/** Limiters before a handler of Express, of Fastify and of Hono: processor time added per request; all send the same header fields. */
export const express: Part = partOf(EXPRESS)
export const fastify: Part = partOf(FASTIFY)
export const hono: Part = partOf(HONO)

function partOf(scenario: WebScenario): Part {
  return {
    name: scenario.framework,
    title: `${scenario.title}: what a limiter adds to a request, answered with 200 and with 429`,
    async run(options) {
      const measured = await measureWeb(scenario, options)
      return { tables: [webTable(measured)], notes: fieldNotes(measured), figures: answersOf(measured) }
    },
  }
}
