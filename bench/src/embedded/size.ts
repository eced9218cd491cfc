import { measureSizes } from '@sluice/scripts/size'
import type { Reading } from '../reading.ts'
import type { Part } from '../part.ts'

/** What the library adds to a bundle of somebody's application. */
export const size: Part = {
  name: 'size',
  title: 'bundles of the built package, minified and compressed with gzip',
  async run({ say }) {
    say('bundling')
    const readings = measureSizes().flatMap(({ name, size: value, goal }): Reading[] =>
      goal === undefined ? [] : [{ name: name.replace(/ \(goal.*/, ''), unit: 'bytes', value, goal: { atMost: goal } }],
    )
    return { readings, notes: ['Every subpath, with a limit that no change exceeds unseen: `npm run check -- size`.'] }
  },
}
