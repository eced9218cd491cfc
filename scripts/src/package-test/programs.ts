import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { type EngineName, enginesIn, portsIn, withAddresses } from '../fences/addresses.ts'
import { fencesOf } from '../fences/fence.ts'
import { freePort } from '../engines/index.ts'

/** A program of a document, as a reader types it. */
export interface Program {
  /** Where it stands: `README.md:12`. */
  readonly name: string
  /** Its file, without extension. */
  readonly file: string
  readonly text: string
  /** What it prints, if the document shows that. */
  readonly output?: string
  readonly runs: boolean
  readonly needs: readonly EngineName[]
  /** The packages that it imports, without those of Node. */
  readonly packages: readonly string[]
  /** Whether it must listen for requests, because it imports an adapter of a server. The others must end by themselves. */
  readonly serves: boolean
}

const ADAPTER = /from 'sluice\/(?:express|fastify|hono|koa|nest|node)'/

/** The TypeScript and JavaScript programs of a document, in order. */
export function programsOf(root: string, document: string): Program[] {
  const { fences } = fencesOf(readFileSync(join(root, document), 'utf8'))
  return fences.flatMap(({ language, text, line, noRun }, index) => {
    if (language !== 'ts' && language !== 'js') return []
    const next = fences[index + 1]
    const shown = next?.output === true ? { output: next.text } : {}
    const file = `${document.replaceAll(/\W/g, '-').toLowerCase()}-${line}`
    const [needs, packages, serves] = [enginesIn(text), packagesIn(text), ADAPTER.test(text)]
    return [{ name: `${document}:${line}`, file, text, ...shown, runs: noRun === undefined, needs, packages, serves }]
  })
}

function packagesIn(text: string): string[] {
  const { module } = parseSync('program.ts', text)
  const named = module.staticImports.map(({ moduleRequest: { value } }) => /^(?:@[^/]+\/)?[^/]+/.exec(value)?.[0] ?? value)
  return [...new Set(named)].filter((name) => !name.startsWith('node:') && !name.startsWith('.'))
}

/** A program with the addresses of this run: those of its engines, and free ports. `port` is the first of its ports. */
export async function settled(
  { text }: Program,
  urls: ReadonlyMap<EngineName, string>,
): Promise<{ readonly text: string; readonly port: number | undefined }> {
  const ports = new Map<number, number>()
  for (const port of portsIn(text)) ports.set(port, await freePort())
  return { text: withAddresses(text, { engines: urls, ports }), port: [...ports.values()][0] }
}
