import { describe, expect, it } from 'vitest'
import { orderOf, USAGE } from '../src/order.ts'

describe('a command line of the bench', () => {
  it.each([
    [[]],
    [['seed-000']],
    [['seed-003', '--seconds', '0']],
    [['seed-003', '--fast']],
    [['seed-003', '--only', 'hot']],
    [['seed-003', '--gates']],
    [['embedded', '--only', 'hot,cold']],
    [['redis', '--only', 'service']],
    [['redis', '--gates']],
    [['open', '--only', 'hot']],
    [['cold', '--gates']],
  ])('%j is not understood, and why is said', (args) => {
    expect(orderOf(args)).toEqual(expect.any(String))
  })

  it('is a suite with what was requested of it', () => {
    expect(orderOf(['embedded', '--only', 'hot,http', '--seconds', '0.1', '--json', 'a.json', '--gates'])).toMatchObject({
      suite: { name: 'embedded' },
      parts: ['hot', 'http'],
      seconds: 0.1,
      json: 'a.json',
      gates: true,
      write: false,
    })
  })

  it('may name any suite that the usage lists', () => {
    const suites = USAGE.split('\n\n')[1] as string
    const names = [...suites.matchAll(/^ {2}([\w-]+) /gm)].map(([, name]) => name as string)
    expect(names).toHaveLength(6)
    for (const name of names) expect(orderOf([name])).toMatchObject({ suite: { name }, write: false })
  })
})
