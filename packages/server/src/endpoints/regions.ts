import { BadRequest, Refusal, sendJson } from '../http/answer.ts'
import { objectOf, readJson } from '../http/body.ts'
import { parametersOf } from '../http/query.ts'
import type { Route, Routed } from '../http/routes.ts'
import type { WantedEra } from '../regions/begin-era.ts'
import type { Region } from '../regions/region.ts'

/** A thousand names of 64 characters. */
const MAX_BYTES = 131_072
const EXPECTED =
  'The body must be an object with weights, thousandths of every token bucket by the name of the region, and perhaps gone, runs by the name.'

/**
 * `GET /v1/regions`: this region's part of the limits, and its links to other regions. `PUT`: changes the parts. Both answer 404 if there
 * are no other regions.
 */
export function regionRoute(region: Region | undefined): Exclude<Route, (routed: Routed) => void> {
  const required = (): Region => {
    if (region === undefined) throw new Refusal(404, 'This service shares its limits with no other region.')
    return region
  }
  return {
    GET: ({ response }) => sendJson(response, 200, required().status()),
    PUT: (routed) => reweigh(required(), routed),
  }
}

async function reweigh(region: Region, routed: Routed) {
  parametersOf(routed, [])
  const { request, response } = routed
  const { weights, gone = {}, ...others } = objectOf(await readJson(request, MAX_BYTES), EXPECTED)
  if (Object.keys(others).length > 0) throw new BadRequest(EXPECTED)
  const wanted = { weights: objectOf(weights, EXPECTED), gone: objectOf(gone, EXPECTED) } as WantedEra
  if (region.reweigh === undefined)
    throw new Refusal(409, 'The regions keep fixed parts: change regions.weights of the policy, and restart each of them.')
  await region.reweigh(wanted)
  sendJson(response, 202, region.status())
}
