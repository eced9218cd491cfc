import type { ServerResponse } from 'node:http'
import { Refusal, sendJson } from '../http/answer.ts'

export const DEMO_ENDPOINTS: readonly string[] = ['/api/search', '/api/data']

export function demoBackend(path: string, response: ServerResponse): void {
  switch (path) {
    case '/api/search':
      return sendJson(response, 200, { query: 'sluice', hits: ['token bucket', 'fixed window', 'sliding window'] })
    case '/api/data':
      return sendJson(response, 200, { value: 42 })
    default:
      throw new Refusal(404, `The demo backend has ${DEMO_ENDPOINTS.join(' and ')}.`)
  }
}
