import type { Field, PolicyNode, ScalarNode } from './value.ts'
import type { Sliced } from '../model/sliced.ts'

/** A part of a node tree. It is small, so that receiving it from another thread takes little time. */
export type NodePiece = readonly (string | number)[]

/** Values of a piece: enough for some 256 nodes. */
const SIZE = 1_024
const TYPES = ['text', 'number', 'boolean', 'null'] as const
const [LIST, MAP] = [TYPES.length, TYPES.length + 1]

/**
 * A scalar becomes its type, offset and text. A list or a map becomes its code, offset, number of items, and the items, in a map each with
 * its name and offset.
 */
export function piecesOf(root: PolicyNode): NodePiece[] {
  const values: (string | number)[] = []
  const write = (node: PolicyNode): void => {
    if (node.kind === 'scalar') values.push(TYPES.indexOf(node.type), node.at, node.text)
    else if (node.kind === 'list') {
      values.push(LIST, node.at, node.items.length)
      node.items.forEach(write)
    } else {
      values.push(MAP, node.at, node.fields.size)
      for (const [name, { at, value }] of node.fields) {
        values.push(name, at)
        write(value)
      }
    }
  }
  write(root)
  return Array.from({ length: Math.ceil(values.length / SIZE) }, (_, index) => values.slice(index * SIZE, (index + 1) * SIZE))
}

export function* treeOf(pieces: Iterable<NodePiece>): Sliced<PolicyNode> {
  const iterator = pieces[Symbol.iterator]()
  let [piece, offset, taken]: [NodePiece, number, number] = [[], 0, 0]
  const next = (): string | number => {
    while (offset === piece.length) {
      const step = iterator.next()
      if (step.done === true) throw new TypeError('compilePolicy: pieces are missing')
      piece = step.value
      offset = 0
    }
    offset += 1
    return piece[offset - 1] as string | number
  }
  function* read(): Sliced<PolicyNode> {
    const [kind, at, content] = [next() as number, next() as number, next()]
    taken += 1
    if (taken % 32 === 0) yield
    if (kind === LIST) {
      const items: PolicyNode[] = []
      for (let index = 0; index < (content as number); index += 1) items.push(yield* read())
      return { kind: 'list', at, items }
    }
    if (kind === MAP) {
      const fields = new Map<string, Field>()
      for (let index = 0; index < (content as number); index += 1) {
        const [name, nameAt] = [next() as string, next() as number]
        fields.set(name, { at: nameAt, value: yield* read() })
      }
      return { kind: 'map', at, fields }
    }
    return { kind: 'scalar', at, text: content as string, type: TYPES[kind] as ScalarNode['type'] }
  }
  return yield* read()
}
