import { isEmptyMap, type PolicyNode, quoted, type Value } from '../document/value.ts'

/** Lua programs write an empty list as `{}`, so this is only a warning unless parsing is strict. */
export function readList(value: Value, form: string): Value | undefined {
  if (value.node.kind === 'list') return value
  if (value.issues.strict || !isEmptyMap(value.node)) return value.wrong(form)
  value.warn(` is {} and is read as an empty list: expected ${form}`)
  return value.with({ kind: 'list', at: value.node.at, items: [] })
}

/**
 * Refuses a section that Sluice does not implement, unless it has no effect in Fairvisor either: if it is empty or not enabled.
 * @param kind `switch`: a block in which Fairvisor requires `enabled`
 */
export function refuseSection(fields: Value, name: string, kind: 'list' | 'block' | 'switch'): void {
  const value = fields.get(name)
  if (value === undefined) return
  const { node } = value
  const isList = node.kind === 'list'
  const isEmpty = isEmptyMap(node) || (isList && node.items.length === 0)
  if (kind === 'list' && isEmptyMap(node)) value.warn(' is {} and is read as an empty list: expected a list')
  if (kind === 'switch' && isEmpty)
    value.warn(' is empty and has no effect: Fairvisor refuses the bundle, expected { "enabled": false } or none')
  if (isEmpty || isOff(node)) return
  const found = node.kind === 'scalar' ? quoted(node.text) : isList ? 'a list' : 'a map'
  const allowed = isList ? 'an empty list or none' : '{ "enabled": false } or none'
  value.refuse(` is not yet supported, and is ${found}: expected ${allowed}`, { value: found, allowed })
}

function isOff(node: PolicyNode): boolean {
  if (node.kind === 'scalar') return node.type === 'null'
  const enabled = node.kind === 'map' ? node.fields.get('enabled')?.value : undefined
  return enabled?.kind === 'scalar' && enabled.type === 'boolean' && enabled.text === 'false'
}
