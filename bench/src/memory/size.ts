import { measureSizes } from '@sluice/scripts/size'
import type { Reading } from '../result/reading.ts'
import type { Part } from '../part.ts'

/** Measures how much the library adds to the bundle of an application. */
export const size: Part = {
  name: 'size',
  title: 'bundles of the built package, minified and compressed with gzip',
  async run({ say }) {
    say('bundling')
    const readings = measureSizes().flatMap(({ name, size: value, goal }): Reading[] =>
      goal === undefined ? [] : [{ name, unit: 'bytes', value, goal: { atMost: goal } }],
    )
    return { readings, notes: ['Every subpath of the package has a limit for its size: `npm run check -- size` fails if one exceeds it.'] }
  },
}
