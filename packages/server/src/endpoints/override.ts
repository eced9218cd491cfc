import type { Engine, KeyOverride, KeyTarget, OverrideFields } from 'sluice/policy'
import { BadRequest, sendJson } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import type { Asked } from '../http/routes.ts'

const LARGEST_BODY = 16_384

/**
 * `PUT /v1/keys/:key/override`: sets another limit for this key, in the fields of the policy file. The key keeps what it has left, cut to
 * the new limit.
 */
export async function putOverride(engine: Engine, held: HeldOverrides, target: KeyTarget, { request, response }: Asked): Promise<void> {
  const fields = fieldsOf(await readJson(request, LARGEST_BODY), target)
  held.set(fields)
  sendJson(response, 200, { overrides: overridesOf(engine, { key: target.key, limit: fields.rule }) })
}

/** `DELETE`: removes overrides that were set by PUT; those of the policy file stay. */
export function deleteOverride(held: HeldOverrides, target: KeyTarget, { response }: Asked): void {
  sendJson(response, 200, { withdrawn: held.withdraw(target) })
}

/** The overrides of a key that are in force now, as JSON. */
export function overridesOf(engine: Engine, target: KeyTarget): unknown[] {
  return engine.overridesOfKey(target).map(told)
}

function told({ rule, key, limit, until, origin }: KeyOverride): unknown {
  return {
    rule,
    key,
    algorithm: limit.algorithm.name,
    limit: limit.capacity,
    windowMs: limit.windowMs,
    ...(until === undefined ? {} : { until: new Date(until / 1_000).toISOString() }),
    from: origin === 'set' ? 'put' : 'policy',
  }
}

/** The body's fields, completed with the key of the path and the rule of `?limit=`. The engine validates their values. */
function fieldsOf(body: unknown, { key, limit }: KeyTarget): OverrideFields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRequest('The body must be an object with the fields of an override: rule, the fields of a limit, until.')
  const fields = { key, ...(limit === undefined ? {} : { rule: limit }), ...body } as OverrideFields
  if (limit !== undefined && fields.rule !== limit) throw new BadRequest('The field rule and ?limit= name two rules; expected one of them.')
  const values: readonly unknown[] = Array.isArray(fields.key) ? fields.key : [fields.key]
  if (!values.some((value) => String(value) === key))
    throw new BadRequest(
      'The field key does not have the key of the path in it; expected a list of all values of the key, null for absent ones.',
    )
  return fields
}
