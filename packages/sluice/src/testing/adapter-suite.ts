import { describe } from 'vitest'
import { answerCases } from './adapter-answers.ts'
import { adapterBench, type AdapterSuiteOptions } from './adapter-bench.ts'
import { optionCases } from './adapter-options.ts'

/**
 * Registers the tests that every adapter must pass with vitest, over real connections: headers, denials, failures, keys, costs, hostile
 * clients.
 */
export function adapterSuite<Request>(name: string, adapter: AdapterSuiteOptions<Request>): void {
  describe(`adapter suite: ${name}`, () => {
    const bench = adapterBench(adapter)
    answerCases(bench)
    optionCases(bench)
  })
}
