import { describe, expect, it } from 'vitest'
import { orderOf, USAGE } from '../src/order.ts'

describe('a command line of the bench', () => {
  it.each([
    [['seed-999']],
    [['seed-003', '--seconds', '0']],
    [['seed-003', '--fast']],
    [['seed-003', '--only', 'warm']],
    [['memory', 'redis', '--only', 'hot']],
    [['--only', 'hot']],
    [['redis', '--only', 'service']],
    [['redis', '--write', '--results', 'a']],
    [['compare', 'a']],
    [['compare', 'a', 'b', 'c']],
    [['compare', 'a', 'b', '--quick']],
    [['compare', 'a', 'b', '--write']],
    [['compare', 'a', 'b', '--seconds', '1']],
  ])('%j is not understood, and why is said', (args) => {
    expect(orderOf(args)).toEqual(expect.any(String))
  })

  it('is a suite with what was requested of it', () => {
    expect(orderOf(['memory', '--only', 'hot,rules', '--seconds', '0.1', '--results', 'a', '--quick'])).toMatchObject({
      suites: [{ name: 'memory' }],
      parts: ['hot', 'rules'],
      seconds: 0.1,
      results: 'a',
      depth: 'quick',
      write: false,
    })
  })

  it('is all suites, in the order of the usage, if none is named', () => {
    const names = [...(USAGE.split('\n\n')[1] as string).matchAll(/^ {2}([\w-]+) /gm)].map(([, name]) => name as string)
    expect(names.length).toBeGreaterThan(6)
    expect(orderOf([])).toMatchObject({ suites: names.map((name) => ({ name })), depth: 'full', write: false })
    for (const name of names) expect(orderOf([name])).toMatchObject({ suites: [{ name }] })
  })

  it('is only a plan where that is wanted', () => {
    expect([orderOf(['--plan', '--quick']), orderOf(['--quick'])]).toMatchObject([{ plan: true, depth: 'quick' }, { plan: false }])
  })

  it('compares two folders', () => {
    expect(orderOf(['compare', 'a', 'b'])).toEqual({ compare: ['a', 'b'] })
  })
})
