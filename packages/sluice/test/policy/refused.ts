import { parsePolicy, type ParseOptions } from '../../src/policy/parse.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'

/** What a text that is no policy is refused with. */
export function fail(text: string, options?: ParseOptions): PolicyError {
  try {
    parsePolicy(text, options)
  } catch (error) {
    if (error instanceof PolicyError) return error
    throw error
  }
  throw new Error('the policy was accepted')
}

/** A policy of one rule with these lines more. */
export const rule = (...lines: string[]): string =>
  ['version: 1', 'rules:', '  - name: a', '    key: []', '    rate: 10/s', '    burst: 20', ...lines.map((line) => `    ${line}`), ''].join(
    '\n',
  )
