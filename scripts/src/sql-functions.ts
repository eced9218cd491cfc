import { createHash } from 'node:crypto'

/** An SQL function as it is embedded in programs.gen.ts. */
export interface SqlFunction {
  /** The name, without the table's name before it and the hash after it. */
  readonly name: string
  /** The hash of the text that is installed if the tables are named sluice. */
  readonly hash: string
  /** The text, with the names of tables and functions as in the files. */
  readonly source: string
}

const NAME = /\bsluice_(\w+)\(/g

/**
 * Functions in the order in which they are installed: each comes after the functions that it calls. The hash of a function covers the
 * installed names of the functions that it calls. So a change of a function also changes the names of all its callers.
 * @throws Error if functions call one another in a circle, or if a file does not create the function of its name
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
