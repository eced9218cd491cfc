import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeFigures } from './documents.ts'
import { type Order, orderOf, USAGE } from './order.ts'
import { MissingEngine } from './suites/suite.ts'

/** `npm run bench -- SUITE [option ...]`. Exit codes: 0 measured, 1 failed, 2 there is nothing to measure against, 3 not understood. */
/** The repository: this file is built into bench/dist. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What changes the figures of a run, for those who would repeat it. */
function optionsOf({ seconds }: Pick<Order, 'seconds'>): { options?: string } {
  return seconds === undefined ? {} : { options: ` --seconds ${seconds}` }
}

/** Measures and prints; an interrupted run leaves no server behind either. */
async function run({ suite, json, write, ...wanted }: Order): Promise<number> {
  const undos: (() => Promise<void>)[] = []
  const interrupted = new Promise<number>((resolve) => {
    process.once('SIGINT', () => resolve(130))
    process.once('SIGTERM', () => resolve(143))
  })
  // A folder that cannot be made is reported now, not after minutes.
  if (json !== undefined) mkdirSync(dirname(json), { recursive: true })
  const measured = async (): Promise<number> => {
    const { text, results, where, documents } = await suite.run({
      ...wanted,
      say: (line) => console.error(line),
      atEnd: (undo) => undos.push(undo),
    })
    console.log(text)
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
    if (write)
      for (const file of writeFigures(ROOT, { suite: suite.name, documents, where, ...optionsOf(wanted) }))
        console.error(`written: ${file}`)
    return 0
  }
  try {
    return await Promise.race([measured(), interrupted])
  } catch (error) {
    console.error(error instanceof MissingEngine ? error.message : error)
    return error instanceof MissingEngine ? 2 : 1
  } finally {
    for (const undo of undos.reverse()) await undo()
  }
}

const order = orderOf(process.argv.slice(2))
if (typeof order === 'string') {
  console.error(`${order}\n\n${USAGE}`)
  process.exitCode = 3
} else {
  const code = await run(order)
  // A run that was cut short may have left connections open; what it printed is written already.
  process.exit(code)
}
