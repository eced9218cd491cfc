import type { ServerResponse } from 'node:http'
import { type Policy, PolicyError, type StoreKind } from 'sluice/policy'
import { BadRequest, JSON_TYPE, send } from '../answer.ts'
import { readBytes } from '../body.ts'
import type { HeldPolicy } from '../held-policy.ts'
import { mapInSlices } from '../in-slices.ts'
import type { Asked } from '../routes.ts'
import { ruleFacts } from '../rule-facts.ts'

/** Largest text of a policy, in bytes; the reader of policies has its own bound in characters. */
const LARGEST_POLICY = 1_048_576

/** `GET /v1/policy`: what the policy at work means. Its text is not told: it may hold a password. */
export async function showPolicy({ current }: HeldPolicy, kind: StoreKind, { response }: Asked): Promise<void> {
  await sendPolicy(response, current, kind)
}

/** `PUT /v1/policy`: the body, YAML or JSON, becomes the policy; where it is none, the last good one stays and all mistakes are told. */
export async function putPolicy(held: HeldPolicy, kind: StoreKind, { request, response }: Asked): Promise<void> {
  const bytes = await readBytes(request, LARGEST_POLICY)
  const format = /^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers['content-type'] ?? '') ? 'json' : 'yaml'
  try {
    const policy = await held.replace({ text: bytes, filename: `policy.${format}`, format })
    await sendPolicy(response, policy, kind)
  } catch (error) {
    if (error instanceof PolicyError) throw new BadRequest(error.message, { issues: error.issues })
    throw error
  }
}

/** Thousands of rules are told in slices: whoever administers must not hold up who asks. */
async function sendPolicy(response: ServerResponse, policy: Policy, kind: StoreKind): Promise<void> {
  const { dialect, hash, failure, rules, warnings } = policy
  const facts = await mapInSlices(rules, (rule) => JSON.stringify(ruleFacts(policy, rule, kind)))
  const [before, after] = [JSON.stringify({ dialect, hash, failure }), JSON.stringify({ warnings })]
  send(response, 200, JSON_TYPE, `${before.slice(0, -1)},"rules":[${facts.join(',')}],${after.slice(1)}\n`)
}
