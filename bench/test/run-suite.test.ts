import { afterEach, describe, expect, it, vi } from 'vitest'
import { MissingEngine } from '../src/engines.ts'
import type { Part } from '../src/part.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { type RunOptions, runSuite } from '../src/run-suite.ts'
import type { Suite } from '../src/suites/suite.ts'

const part = (name: string, run: Part['run']): Part => ({ name, title: name, run })
const suiteOf = (...parts: readonly Part[]): Suite => {
  return { name: 'suite', title: 'a suite', summary: '', parts, seconds: { quick: 1, full: 2 } }
}
const good = part('good', async () => ({ readings: [{ name: 'time', unit: 'ns', value: 1 }] }))

async function measured(suite: Suite, more: Partial<RunOptions> = {}) {
  const [written, said]: [SuiteResults[], string[]] = [[], []]
  const { signal } = new AbortController()
  const onPart = (results: SuiteResults): void => void written.push(results)
  const atEnd = (): void => {}
  const ended = await runSuite(suite, { depth: 'quick', say: (line) => said.push(line), atEnd, onPart, signal, ...more })
  return { ...ended, written, said }
}

describe('a suite', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('measures its other parts if an engine is missing or a part fails, and says which and why', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue()
    const broken = new Error('the server ended\nwith its log')
    const fails = async (): Promise<never> => Promise.reject(broken)
    const missing = async (): Promise<never> => Promise.reject(new MissingEngine('no redis-server'))
    const { results, errors, said, written } = await measured(
      suiteOf(part('missing', missing), part('fails', fails), part('again', fails), good),
    )
    const absent = { readings: [{ name: 'fails', absent: 'the server ended', mark: 'absent' }] }
    expect(results.parts).toMatchObject([
      { name: 'missing', readings: [{ absent: 'no redis-server' }] },
      absent,
      { name: 'again' },
      { readings: [{ mark: 'reported' }] },
    ])
    expect(errors).toHaveLength(3)
    expect(said).toContain('suite missing: not measured: no redis-server')
    // The stack of what is no missing engine, once, although two parts failed with it.
    expect(error.mock.calls).toEqual([[broken]])
    expect(written.map(({ parts }) => parts.map(({ name }) => name))).toEqual([['missing'], ['fails'], ['again'], ['good']])
  })

  it('undoes what a part registered before the next part begins', async () => {
    const done: string[] = []
    const leaves = part('leaves', async ({ atEnd }) => {
      atEnd(async () => void done.push('undone'))
      throw new MissingEngine('no nginx')
    })
    const next = part('next', async () => {
      done.push('next')
      return {}
    })
    await measured(suiteOf(leaves, next))
    expect(done).toEqual(['undone', 'next'])
  })

  it('reports nothing of a part that failed because the run was interrupted', async () => {
    const stop = new AbortController()
    const interrupted = part('interrupted', async () => {
      stop.abort()
      throw new Error('its server was stopped')
    })
    const { results, errors, written } = await measured(suiteOf(interrupted, good), { signal: stop.signal })
    expect([results.parts, errors, written]).toEqual([[], [], []])
  })
})
