import { describe, expect, it } from 'vitest'
import { type Program, programsOf, settled } from '../../src/package-test/programs.ts'
import { tree } from '../tree.ts'

const TEXT = `# A

\`\`\`ts
import { Redis } from 'ioredis'
import { readFileSync } from 'node:fs'
import { thing } from '@scope/name/sub'
import { a } from 'sluice/redis'
new Redis('redis://127.0.0.1:6379')
\`\`\`

\`\`\`text output
well
\`\`\`

\`\`\`ts no-run: because
import { b } from 'sluice'
\`\`\`

\`\`\`sh
true
\`\`\`
`

describe('the programs of a document', () => {
  const read = () => programsOf(tree({ 'README.md': TEXT }), 'README.md')

  it('are its TypeScript, with what they import, need and print', () => {
    expect(read().map(({ name, packages, needs, output, runs }) => [name, packages, needs, output, runs])).toEqual([
      ['README.md:3', ['ioredis', '@scope/name', 'sluice'], ['redis'], 'well\n', true],
      ['README.md:15', ['sluice'], [], undefined, false],
    ])
  })

  it('call the servers of this run', async () => {
    const [program] = read() as [Program]
    const { text } = await settled(program, new Map([['redis', 'redis://127.0.0.1:7']]))
    expect(text).toContain(`new Redis('redis://127.0.0.1:7')`)
  })
})
