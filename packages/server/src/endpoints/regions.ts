import type { ServerResponse } from 'node:http'
import { Refusal, sendJson } from '../http/answer.ts'
import type { Region } from '../regions/region.ts'

/** `GET /v1/regions`: what this region holds, and how it reaches the others. @throws Refusal 404 if the limits are this service's own */
export function sendRegion(response: ServerResponse, region: Region | undefined): void {
  if (region === undefined) throw new Refusal(404, 'This service shares its limits with no other region.')
  sendJson(response, 200, region.status())
}
