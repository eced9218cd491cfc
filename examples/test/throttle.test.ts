import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

const LINES = [
  ...['Ada', 'Grace', 'Edsger', 'Barbara', 'Tony'].map((name) => `mail to ${name}`),
  '1 + 2 = 3',
  '3 - 2 = 1',
  '5 + 8 = 13',
  ...['one', 'two', 'three', 'four'].map((name) => `page ${name}`),
  ...['to be', ' read', ' slow', 'ly'].map((part) => `bytes "${part}"`),
  ...['a', 'b', 'c', 'd', 'e', 'f'].map((job) => `job ${job}`),
]

describe('examples/throttle', () => {
  it('prints a line per turn, two at once and then ten a second', async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '..', 'dist', 'throttle', 'main.js')])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.replace(/^ *\d+ ms {2}/, ''))).toEqual(LINES)
    const times = lines.map((line) => Number.parseInt(line, 10))
    // The test checks only that no line is early, because a busy machine prints late. A printed time may be half a millisecond off.
    const took = (to: number, from = -1): number => (times[to] as number) - (times[from] ?? 0) + 1
    expect(took(4)).toBeGreaterThanOrEqual(300)
    expect(took(7, 4)).toBeGreaterThanOrEqual(100)
    expect(took(11, 7)).toBeGreaterThanOrEqual(200)
    expect(took(15, 11)).toBeGreaterThanOrEqual(120)
    expect(took(21, 15)).toBeGreaterThanOrEqual(400)
  })
})
