import type { Micros } from '../../time/micros.ts'
import { parseInstant } from '../../time/instant.ts'
import type { Fields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'

const FORM = 'a time such as 2026-01-31T23:59:59Z'
const PATTERN = /^[^.]{19}Z$/

/** Checks `issued_at` and `expires_at` of a bundle. An expired bundle is refused when it is read; expiry is not checked again later. */
export function checkTimes(bundle: Fields, now: Micros, issues: Issues): void {
  readTime(bundle, 'issued_at', issues)
  const expires = readTime(bundle, 'expires_at', issues)
  const node = bundle.node('expires_at')
  if (expires !== undefined && expires <= now && node !== undefined)
    issues.wrong(node, bundle.pathOf('expires_at'), 'a time to come: the bundle has expired')
}

function readTime(bundle: Fields, name: string, issues: Issues): Micros | undefined {
  const node = bundle.node(name)
  if (node === undefined) return undefined
  const time = node.kind === 'scalar' && PATTERN.test(node.text) ? parseInstant(node.text) : undefined
  if (time === undefined) issues.wrong(node, bundle.pathOf(name), FORM)
  return time
}
