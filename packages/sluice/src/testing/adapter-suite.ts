import { describe } from 'vitest'
import { checkOptions, type Form, FUNCTION, requireForm, TEXT } from '../errors/options.ts'
import { answerCases } from './adapter-answers.ts'
import { adapterBench, type AdapterSuiteOptions } from './adapter-bench.ts'
import { countingCases } from './adapter-counting.ts'
import { limitCases } from './adapter-limits.ts'
import { optionCases } from './adapter-options.ts'
import { slotCases } from './adapter-slots.ts'
import { waitCases } from './adapter-waits.ts'

const FORMS: Readonly<Record<string, Form>> = { serve: FUNCTION, header: FUNCTION, path: FUNCTION }

/**
 * Registers with vitest the tests that every adapter must pass, over real connections.
 * @throws LimiterError INVALID_OPTIONS
 */
export function adapterSuite<Request>(name: string, adapter: AdapterSuiteOptions<Request>): void {
  requireForm('adapterSuite', 'name', name, TEXT)
  checkOptions('adapterSuite', adapter, FORMS)
  for (const [member, form] of Object.entries(FORMS)) requireForm('adapterSuite', member, adapter[member as keyof typeof adapter], form)
  describe(`adapter suite: ${name}`, () => {
    const bench = adapterBench(adapter)
    answerCases(bench)
    optionCases(bench)
    limitCases(bench)
    slotCases(bench)
    waitCases(bench)
    countingCases(bench)
  })
}
