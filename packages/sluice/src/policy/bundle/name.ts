import type { PolicyNode } from '../document/node.ts'
import type { Issues } from '../document/issues.ts'

const MAX_LENGTH = 200
const FORM = `a text of 1 to ${MAX_LENGTH} characters`

/** Reads a name or id. An invalid one is reported and gives undefined. */
export function readName(node: PolicyNode, path: string, issues: Issues): string | undefined {
  if (node.kind === 'scalar' && node.type === 'text' && node.text !== '' && node.text.length <= MAX_LENGTH && !/\p{Cs}/u.test(node.text))
    return node.text
  issues.wrong(node, path, FORM)
  return undefined
}

/**
 * A name of a rule that is unique in its bundle, because two policies may use one name. Separators of names (`/`, `#`, `%`) and
 * unprintable characters are percent-encoded, so that no two rules collide.
 */
export function scopedName(policy: string | undefined, rule: string): string {
  return policy === undefined ? encode(rule) : `${encode(policy)}/${encode(rule)}`
}

function encode(name: string): string {
  return name.replace(/[^!$&-.0-[\]-~]/gu, encodeURIComponent)
}
