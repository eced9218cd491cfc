import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

describe('examples/budget', () => {
  it('settles streamed answers with what they used, also one whose client has left', async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '..', 'dist', 'budget', 'main.js')])
    expect(stdout.split('\n')).toEqual([
      'd: refused, 100 left',
      'c: held 300, used 44',
      'a: held 300, used 51',
      'b: held 300, used 131',
      'd again: held 300, used 51',
      '723 left',
      '',
    ])
  })
})
