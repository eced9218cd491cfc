import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalizePath } from 'sluice/policy'
import { send, sendJson } from '../http/answer.ts'
import type { Readiness } from '../endpoints/readiness.ts'
import { sumMetrics } from './sum-metrics.ts'
import type { WorkerGroup } from './worker-group.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Answers for all workers instead of one: metrics are summed, and ready means that all are ready. */
export function answerTogether(group: WorkerGroup, contentType: string, alone: Handler): Handler {
  const joint: ReadonlyMap<string, (response: ServerResponse) => Promise<void>> = new Map([
    ['/metrics', async (response) => send(response, 200, contentType, sumMetrics((await group.gather('metrics')).answers))],
    ['/readyz', async (response) => ready(group, response)],
  ])
  return (request, response) => {
    const { method, url = '/' } = request
    const answer = method === 'GET' || method === 'HEAD' ? joint.get(normalizePath(url)) : undefined
    if (answer === undefined) return alone(request, response)
    answer(response).catch(() => response.destroy())
  }
}

async function ready(group: WorkerGroup, response: ServerResponse): Promise<void> {
  const { answers, workers } = await group.gather('ready')
  const told = answers.map((answer) => JSON.parse(answer) as Readiness)
  const serving = { serving: told.length, wanted: workers }
  if (told.length < workers) return sendJson(response, 503, { status: 'starting', workers: serving })
  // Reports the worst worker: 503 before 200, and degraded before ready.
  const worst = told.find(({ status }) => status === 503) ?? told.find(({ body }) => body.store !== undefined) ?? told[0]
  sendJson(response, worst?.status ?? 503, { ...worst?.body, workers: serving })
}
