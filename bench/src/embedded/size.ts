import { fileURLToPath } from 'node:url'
import { BUNDLES, measureSizes } from '@sluice/scripts/size'
import type { Reading } from '../reading.ts'
import type { Part } from '../part.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** What the library adds to a bundle of somebody's application. */
export const size: Part = {
  name: 'size',
  title: 'bundles of the built package, minified and compressed with gzip',
  async run({ say }) {
    say('bundling')
    const sizes = await measureSizes(ROOT)
    const readings = BUNDLES.map(({ name, goal }): Reading => {
      const found = sizes[name]
      if (found === undefined) return { name, goal: { atMost: goal }, absent: 'it was not bundled' }
      return { name, unit: 'bytes', value: found.gzip, goal: { atMost: goal }, baseline: `${found.min} minified` }
    })
    return { readings, notes: ['The same bundles, and a record that no change exceeds unseen: `npm run check -- size`.'] }
  },
}
