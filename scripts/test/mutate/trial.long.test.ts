import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Mutant, mutantsOf } from '../../src/mutate/mutants.ts'
import { marked } from '../../src/mutate/reach.ts'
import { createTester } from '../../src/mutate/tester.ts'
import { createTrial, prepare } from '../../src/mutate/trial.ts'
import { tree } from '../tree.ts'

const SOURCE = `export function between(low: number, high: number): number[] {
  const all: number[] = []
  for (let at = low; at < high; at += 1) all[at - low] = at
  return all
}

export const near = (a: number, b: number): boolean => Math.abs(a - b) < 5
`
const TEST = `import { expect, it } from 'vitest'
import { between, near } from '../src/numbers.ts'
it('between', () => expect(between(2, 5)).toEqual([2, 3, 4]))
it('near', () => expect([near(1, 2), near(1, 20)]).toEqual([true, false]))
`
/** It loads the source and enters one function only. */
const FAR = `import { expect, it } from 'vitest'
import { near } from '../src/numbers.ts'
it('far', () => expect(near(0, 4.5)).toBe(true))
`

it(
  'runs the tests of a source against its mutants, and is none the worse for one that fails or never ends',
  { timeout: 120_000 },
  async () => {
    const root = tree({
      'packages/sluice/src/numbers.ts': SOURCE,
      'packages/sluice/test/numbers.test.ts': TEST,
      'packages/sluice/test/far.test.ts': FAR,
      'packages/sluice/test/unrelated.test.ts': `import { it } from 'vitest'\nit('fails', () => { throw new Error('not reached') })\n`,
    })
    symlinkSync(join(import.meta.dirname, '..', '..', '..', 'node_modules'), join(root, 'node_modules'))
    const file = join(root, 'packages/sluice/src/numbers.ts')
    const tester = createTester(root)
    onTestFinished(tester.stop)

    const tests = await prepare(root, file, tester, { [file]: marked(file, SOURCE) }, new Map())
    expect(tests.map(({ path, passed, entered }) => [path.slice(root.length), passed, entered.size])).toEqual([
      ['/packages/sluice/test/far.test.ts', 1, 1],
      ['/packages/sluice/test/numbers.test.ts', 2, 2],
    ])
    const trial = createTrial(file, SOURCE, tests)
    const mutants = mutantsOf(file, SOURCE)
    const mutant = (from: string, to: string, line: number): Mutant =>
      mutants.find((one) => one.from === from && one.to === to && one.line === line) as Mutant

    expect(await trial.try(mutant('<', '<=', 7), tester)).toMatchObject({ status: 'survived' })
    expect(await trial.try(mutant('<', '<=', 3), tester)).toMatchObject({ status: 'killed' })
    expect(await trial.try(mutant('<', '<=', 7), tester)).toMatchObject({ status: 'survived' })
    const endless = SOURCE.replace('all[at - low] = at', 'for (;;) all.length = 0')
    expect(await tester.run({ do: 'run', test: tests[1]?.path ?? '', texts: { [file]: endless } }, () => 2_000)).toBe('timeout')
    expect(await trial.try(mutant('<', '<=', 7), tester)).toMatchObject({ status: 'survived' })
    expect(await trial.try(mutant('5', '6', 7), tester)).toMatchObject({ status: 'survived' })
    expect(await trial.try(mutant('<', '>=', 7), tester)).toMatchObject({ status: 'killed' })
    // By its name alone as well, in a sample.
    const path = tests[1]?.path ?? ''
    expect(await tester.run({ do: 'run', test: path, named: 'near' }, () => 20_000)).toMatchObject({ passed: 1, failed: [] })
    expect(await tester.run({ do: 'run', test: path, named: 'nea.' }, () => 20_000)).toMatchObject({ passed: 0, failed: [] })
  },
)
