/** A value of a policy with its offset in the text. Numbers keep their text, so that decimals stay exact. */
export type PolicyNode = ScalarNode | ListNode | MapNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly at: number
  readonly text: string
  readonly type: 'text' | 'number' | 'boolean' | 'null'
}

export interface ListNode {
  readonly kind: 'list'
  readonly at: number
  readonly items: readonly PolicyNode[]
}

export interface MapNode {
  readonly kind: 'map'
  readonly at: number
  readonly fields: ReadonlyMap<string, Field>
}

export interface Field {
  /** Offset of the name. */
  readonly at: number
  readonly value: PolicyNode
}

/** The text of a text; undefined for any other node. */
export function textOf(node: PolicyNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.type === 'text' ? node.text : undefined
}

/** The text of a text, a number or a truth value; undefined for any other node. */
export function wordOf(node: PolicyNode): string | undefined {
  return node.kind === 'scalar' && node.type !== 'null' ? node.text : undefined
}

export function isEmptyMap(node: PolicyNode): boolean {
  return node.kind === 'map' && node.fields.size === 0
}
