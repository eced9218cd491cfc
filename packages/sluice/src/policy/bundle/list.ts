import type { PolicyNode } from '../document/node.ts'
import type { Issues } from '../document/issues.ts'

/**
 * The items of a list. Anything else is reported and gives undefined. Lua programs write an empty list as `{}`, which Fairvisor accepts.
 * This parser accepts it with a warning, unless it is strict.
 */
export function readItems(
  node: PolicyNode,
  path: string,
  form: string,
  lenient: boolean,
  issues: Issues,
): readonly PolicyNode[] | undefined {
  if (node.kind === 'list') return node.items
  if (lenient && isEmptyMap(node)) {
    issues.warn(node.at, `${path} is {} and is read as an empty list: expected ${form}`)
    return []
  }
  issues.wrong(node, path, form)
  return undefined
}

export function isEmptyMap(node: PolicyNode): boolean {
  return node.kind === 'map' && node.fields.size === 0
}
