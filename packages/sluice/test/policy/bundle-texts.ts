import { parsePolicy, type ParseOptions } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'

export const read = (json: unknown, options: ParseOptions = {}): Policy =>
  parsePolicy(typeof json === 'string' ? json : JSON.stringify(json), { format: 'json', filename: 'b.json', now: 0, ...options })
export const refusal = (json: unknown, options: ParseOptions = {}): PolicyError => {
  try {
    read(json, options)
  } catch (error) {
    if (error instanceof PolicyError) return error
    throw error
  }
  throw new Error('the policy was accepted')
}
export const message = (json: unknown, options?: ParseOptions): string => refusal(json, options).message
export const config = { tokens_per_second: 5, burst: 10 }
export const rule = (more: object = {}): object => ({
  name: 'a',
  limit_keys: [],
  algorithm: 'token_bucket',
  algorithm_config: config,
  ...more,
})
