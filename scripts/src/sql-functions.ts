import { createHash } from 'node:crypto'

/** A function as it is embedded. */
export interface SqlFunction {
  /** Without the table's name in front and the hash behind. */
  readonly name: string
  /** Of the text as it is installed for the tables that are called sluice. */
  readonly hash: string
  /** With the names of tables and functions as the files have them. */
  readonly source: string
}

const NAME = /\bsluice_(\w+)\(/g

/**
 * Functions in the order in which they are installed, each after those that it calls. The hash of one covers the names that those
 * are installed under: what changes one changes all that come to it.
 * @throws Error where functions call one another in a circle, or a file does not make the function that it is named after
 */
export function orderedFunctions(texts: ReadonlyMap<string, string>): SqlFunction[] {
  const done = new Map<string, SqlFunction>()
  const visit = (name: string, way: readonly string[]): void => {
    if (done.has(name)) return
    if (way.includes(name)) throw new Error(`functions call one another in a circle: ${[...way, name].join(', ')}`)
    const source = texts.get(name) as string
    if (!source.startsWith(`create function sluice_${name}(`))
      throw new Error(`${name}.sql does not begin with create function sluice_${name}(`)
    for (const called of calledBy(source, texts)) if (called !== name) visit(called, [...way, name])
    const text = source.replaceAll(NAME, (found, called: string) => {
      const other = done.get(called)
      return other === undefined ? found : `sluice_${called}_${other.hash}(`
    })
    done.set(name, { name, hash: createHash('sha256').update(text).digest('hex').slice(0, 8), source })
  }
  for (const name of [...texts.keys()].sort()) visit(name, [])
  return [...done.values()]
}

function calledBy(source: string, texts: ReadonlyMap<string, string>): Set<string> {
  return new Set([...source.matchAll(NAME)].flatMap(([, name]) => (name !== undefined && texts.has(name) ? [name] : [])))
}
