import type { PolicyNode } from './node.ts'
import type { Issues } from './issues.ts'

const MAX_LENGTH = 200
const FORM = `a text of 1 to ${MAX_LENGTH} characters`

/** A name or id; undefined and reported where it is none. */
export function readName(node: PolicyNode, path: string, issues: Issues): string | undefined {
  if (node.kind === 'scalar' && node.type === 'text' && node.text !== '' && node.text.length <= MAX_LENGTH && !/\p{Cs}/u.test(node.text))
    return node.text
  issues.wrong(node, path, FORM)
  return undefined
}

/**
 * The name of a rule among all rules of a bundle: two policies may use one name. What means something in names (`/`, `#`, `%`)
 * or is not printable is percent-encoded, so that no two rules meet.
 */
export function scopedName(policy: string | undefined, rule: string): string {
  return policy === undefined ? encode(rule) : `${encode(policy)}/${encode(rule)}`
}

function encode(name: string): string {
  return name.replace(/[^!$&-.0-[\]-~]/gu, encodeURIComponent)
}
