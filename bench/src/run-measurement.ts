import { readFileSync } from 'node:fs'

/** The measurements that can run in a process of their own, by name. */
export type Measurements = ReadonlyMap<string, (input: never) => Promise<unknown>>

/** Runs the measurement that is named in `child.js NAME` with the JSON on stdin, and prints its result as JSON. */
export async function runMeasurement(measurements: Measurements): Promise<void> {
  const [name = ''] = process.argv.slice(2)
  const measure = measurements.get(name)
  if (measure === undefined) throw new Error(`no measurement is called ${name}`)
  process.stdout.write(JSON.stringify(await measure(JSON.parse(readFileSync(0, 'utf8')) as never)))
}
