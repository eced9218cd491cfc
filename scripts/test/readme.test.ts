import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesBelow } from '../src/source-files.ts'

const ROOT = join(import.meta.dirname, '..', '..')

it('README says how many files of fault tests there are', () => {
  const files = filesBelow(ROOT).filter((file) => file.endsWith('.fault.test.ts'))
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`by ${files.length} files of tests (\`*.fault.test.ts\`)`)
})
