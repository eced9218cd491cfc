import { type Policy, PolicyError, type StoreKind } from 'sluice/policy'
import { BadRequest, sendJson } from '../answer.ts'
import { readBytes } from '../body.ts'
import type { HeldPolicy } from '../held-policy.ts'
import type { Asked } from '../routes.ts'
import { ruleFacts } from '../rule-facts.ts'

/** Largest text of a policy, in bytes; the reader of policies has its own bound in characters. */
const LARGEST_POLICY = 1_048_576

/** `GET /v1/policy`: what the policy at work means. Its text is not told: it may hold a password. */
export function showPolicy({ current }: HeldPolicy, kind: StoreKind, { response }: Asked): void {
  sendJson(response, 200, told(current, kind))
}

/** `PUT /v1/policy`: the body, YAML or JSON, becomes the policy; where it is none, the last good one stays and all mistakes are told. */
export async function putPolicy(held: HeldPolicy, kind: StoreKind, { request, response }: Asked): Promise<void> {
  const bytes = await readBytes(request, LARGEST_POLICY)
  const format = /^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers['content-type'] ?? '') ? 'json' : 'yaml'
  try {
    sendJson(response, 200, told(held.replace({ text: bytes, filename: `policy.${format}`, format }), kind))
  } catch (error) {
    if (error instanceof PolicyError) throw new BadRequest(error.message, { issues: error.issues })
    throw error
  }
}

function told(policy: Policy, kind: StoreKind): unknown {
  const { dialect, hash, failure, rules, warnings } = policy
  return { dialect, hash, failure, rules: rules.map((rule) => ruleFacts(policy, rule, kind)), warnings }
}
