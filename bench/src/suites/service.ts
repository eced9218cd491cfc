import { decisions } from '../service/decisions.ts'
import { proxies } from '../service/proxies.ts'
import { workers } from '../service/workers.ts'
import type { Suite } from './suite.ts'

/** Measures the service against a web server that decides nothing, and against nginx. */
export const service: Suite = {
  name: 'service',
  title: 'the decision service',
  summary: 'decisions a second of the service, one by one and in lists, with workers, and forward-auth against nginx',
  parts: [decisions, proxies, workers],
  seconds: { quick: 0.5, full: 3 },
}
