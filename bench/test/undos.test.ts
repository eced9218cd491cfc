import { describe, expect, it } from 'vitest'
import { undosOf } from '../src/undos.ts'

describe('what is undone at the end', () => {
  it('is undone last first, even if some of it fails, which is reported in a line', async () => {
    const [done, lines]: [number[], string[]] = [[], []]
    const { add, run } = undosOf((line) => lines.push(line))
    add(async () => void done.push(1))
    add(async () => Promise.reject(new Error('the folder is in use\nby nobody')))
    add(async () => void done.push(3))
    await run()
    expect(done).toEqual([3, 1])
    expect(lines).toEqual(['not undone: the folder is in use'])
  })

  it('is also what is added meanwhile, and a second caller waits for the first', async () => {
    const done: string[] = []
    const { add, run } = undosOf()
    add(async () => {
      await new Promise((resolve) => setImmediate(resolve))
      add(async () => void done.push('late'))
      done.push('slow')
    })
    const first = run()
    await run()
    expect(done).toEqual(['slow', 'late'])
    await first
  })
})
