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
