import { holdAlgorithm } from './algorithms-hold.ts'
import { compareAlgorithms } from './algorithms-lanes.ts'
import { compareAsync, compareHotKey } from './hot-lanes.ts'
import { holdKeys } from './keys-hold.ts'
import { compareKeys } from './keys-lanes.ts'
import { compareRules } from './rules-lanes.ts'

/** The measurements that have a process to themselves: `child.js NAME INPUT` prints the result as JSON. */
const MEASUREMENTS: ReadonlyMap<string, (input: never) => Promise<unknown>> = new Map<string, (input: never) => Promise<unknown>>([
  ['hot', compareHotKey],
  ['async', compareAsync],
  ['keys', compareKeys],
  ['hold', holdKeys],
  ['rules', compareRules],
  ['algorithms', compareAlgorithms],
  ['algorithm-hold', holdAlgorithm],
])

const [name = '', input = '{}'] = process.argv.slice(2)
const measure = MEASUREMENTS.get(name)
if (measure === undefined) throw new Error(`no measurement is called ${name}`)
process.stdout.write(JSON.stringify(await measure(JSON.parse(input) as never)))
