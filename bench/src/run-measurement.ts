/** What can be measured in a process of its own, by name. */
export type Measurements = ReadonlyMap<string, (input: never) => Promise<unknown>>

/** Runs the measurement that `child.js NAME INPUT` names and prints its result as JSON. */
export async function runMeasurement(measurements: Measurements): Promise<void> {
  const [name = '', input = '{}'] = process.argv.slice(2)
  const measure = measurements.get(name)
  if (measure === undefined) throw new Error(`no measurement is called ${name}`)
  process.stdout.write(JSON.stringify(await measure(JSON.parse(input) as never)))
}
