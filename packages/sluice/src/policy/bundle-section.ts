import type { PolicyNode } from './node.ts'
import type { Fields } from './fields.ts'
import type { Issues } from './issues.ts'

/** Refuses a section of the format that nothing here carries out, unless it does nothing there either. */
export function refuseSection(fields: Fields, name: string, issues: Issues): void {
  const node = fields.node(name)
  if (node === undefined || isIdle(node)) return
  const path = fields.pathOf(name)
  const [value, allowed] = node.kind === 'list' ? ['a list', 'an empty list or none'] : [kindOf(node), '{ "enabled": false } or none']
  issues.add(node.at, path, `${path} is not yet supported, and is ${value}: expected ${allowed}`, { value, allowed })
}

function isIdle(node: PolicyNode): boolean {
  if (node.kind === 'list') return node.items.length === 0
  if (node.kind === 'scalar') return node.type === 'null'
  const enabled = node.fields.get('enabled')?.value
  return node.fields.size === 0 || (enabled?.kind === 'scalar' && enabled.type === 'boolean' && enabled.text === 'false')
}

function kindOf(node: PolicyNode): string {
  return node.kind === 'scalar' ? JSON.stringify(node.text.slice(0, 60)) : 'a map'
}
