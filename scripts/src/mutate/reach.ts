import { type Node, parseSync, visitorKeys } from 'oxc-parser'

/**
 * Changes a source so that it records which of its functions were entered. A test cannot notice a change of a function that it never
 * enters. The names of the functions are put into a set of the global object, so that several loads of the source share it.
 */
export function marked(file: string, source: string): string {
  const { program } = parseSync(file, source)
  const inserts: { readonly at: number; readonly text: string }[] = []
  for (const { node, body } of functionsIn(program)) {
    const mark = `(globalThis.${SET} ??= new Set()).add(${JSON.stringify(nameOf(file, node))})`
    if (body.type === 'BlockStatement') inserts.push({ at: body.start + 1, text: `${mark};` })
    else inserts.push({ at: body.start, text: `(${mark}, (` }, { at: body.end, text: '))' })
  }
  return inserts.sort((a, b) => b.at - a.at).reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source)
}

/**
 * Makes a function that finds the innermost function at an offset of the source, under the name that `marked` gives it. Undefined outside
 * all functions.
 */
export function enclosing(file: string, source: string): (start: number) => string | undefined {
  const { program } = parseSync(file, source)
  // A function comes before the functions inside it.
  const spans = functionsIn(program).map(({ node }) => node)
  return (start) => {
    const inner = spans.findLast((node) => node.start <= start && start < node.end)
    return inner === undefined ? undefined : nameOf(file, inner)
  }
}

/** The global variable in which `marked` sources record the entered functions. */
export const SET = '__entered'

function nameOf(file: string, { start }: Node): string {
  return `${file}:${start}`
}

interface Found {
  readonly node: Node
  readonly body: Node
}

function functionsIn(node: Node): Found[] {
  const body = 'body' in node && /Function/.test(node.type) ? node.body : undefined
  const own = typeof body === 'object' && body !== null && 'type' in body ? [{ node, body }] : []
  const below = (visitorKeys[node.type] ?? []).flatMap((key) => {
    const child = (node as unknown as Record<string, unknown>)[key]
    return (Array.isArray(child) ? child : [child]).flatMap((one) => (isNode(one) ? functionsIn(one) : []))
  })
  return [...own, ...below]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
