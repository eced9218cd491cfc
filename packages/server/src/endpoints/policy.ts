import type { ServerResponse } from 'node:http'
import { type Policy, PolicyError, type StoreKind } from 'sluice/policy'
import { BadRequest, JSON_TYPE, send } from '../http/answer.ts'
import { readBytes } from '../http/body.ts'
import { parametersOf } from '../http/query.ts'
import type { HeldPolicy } from '../policy/held-policy.ts'
import { mapInSlices } from '../policy/in-slices.ts'
import type { Routed } from '../http/routes.ts'
import { regionFacts } from '../policy/region-facts.ts'
import { ruleFacts } from '../policy/rule-facts.ts'

const MAX_POLICY_BYTES = 1_048_576

/** `PUT /v1/policy`. If the body is invalid, the current policy stays. */
export async function putPolicy(replace: HeldPolicy['replace'], kind: StoreKind, routed: Routed) {
  parametersOf(routed, [])
  const { request, response } = routed
  const bytes = await readBytes(request, MAX_POLICY_BYTES)
  const format = /^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers['content-type'] ?? '') ? 'json' : 'yaml'
  try {
    const policy = await replace({ text: bytes, filename: `policy.${format}`, format })
    await sendPolicy(response, policy, kind)
  } catch (error) {
    if (error instanceof PolicyError) throw new BadRequest(error.message, { issues: error.issues })
    throw error
  }
}

/**
 * `GET /v1/policy`, without the policy's text, which may contain a password. Formatted in slices, because thousands of rules must not hold
 * up decisions.
 */
export async function sendPolicy(response: ServerResponse, policy: Policy, kind: StoreKind): Promise<void> {
  const { dialect, hash, failure, rules, warnings } = policy
  const regions = policy.regions && regionFacts(policy.regions)
  const facts = await mapInSlices(rules, (rule) => JSON.stringify(ruleFacts(policy, rule, kind)))
  const [before, after] = [JSON.stringify({ dialect, hash, failure, regions }), JSON.stringify({ warnings })]
  send(response, 200, JSON_TYPE, `${before.slice(0, -1)},"rules":[${facts.join(',')}],${after.slice(1)}\n`)
}
