import { isEmptyMap } from './list.ts'
import type { PolicyNode } from '../document/node.ts'
import type { Fields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'

/** `switch`: a block that must state whether it is enabled. */
export type SectionKind = 'list' | 'block' | 'switch'

/** Refuses a section of the format that this package does not implement, unless the section has no effect in Fairvisor either. */
export function refuseSection(fields: Fields, name: string, kind: SectionKind, issues: Issues): void {
  const node = fields.node(name)
  if (node === undefined) return
  const path = fields.pathOf(name)
  if (kind === 'list' && isEmptyMap(node)) issues.warn(node.at, `${path} is {} and is read as an empty list: expected a list`)
  if (kind === 'switch' && (isEmptyMap(node) || (node.kind === 'list' && node.items.length === 0)))
    issues.warn(node.at, `${path} is empty and has no effect: Fairvisor refuses the bundle, expected { "enabled": false } or none`)
  if (isIdle(node)) return
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
