import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LimiterError } from 'sluice'
import { type Policy, parsePolicy } from 'sluice/policy'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { LogFields } from '../src/logs/log.ts'
import { reloading } from '../src/policy/reloading.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const textOf = (burst: number): string => `version: 1\nrules:\n  - { name: user, key: [], rate: 1/h, burst: ${burst} }\n`

/** A watched policy file. `replace` is called with each of its texts. */
function watching(replace: (text: string) => Policy) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-reloading-'))
  const file = join(folder, 'policy.yaml')
  const write = (text: string): void => writeFileSync(file, text)
  write(textOf(1))
  const said: unknown[] = []
  const log = (_level: string, event: string, _message: string, fields: LogFields = {}): void => void said.push([event, fields['reason']])
  const taken = { policies: 1 }
  const watched = reloading(
    async ({ text }) => {
      const policy = replace(text as string)
      taken.policies += 1
      return policy
    },
    () => taken.policies,
    file,
    textOf(1),
    log,
  )
  onTestFinished(() => {
    watched.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { file, said, taken, watched, write }
}

const missing = (name: string): LimiterError =>
  new LimiterError('INVALID_POLICY', `identifiers.secretFile ./${name} cannot be read: ENOENT`)

it('takes a policy once the file that it names is there, and reports each reason once', async () => {
  let lacks: string | undefined = 'secret'
  const { said, write } = watching((text) => {
    if (lacks !== undefined) throw missing(lacks)
    return parsePolicy(text)
  })
  write(textOf(2))
  await vi.advanceTimersByTimeAsync(3_000)
  expect(said).toEqual([['policy-refused', missing('secret').message]])
  lacks = 'secrets'
  write(textOf(3))
  await vi.advanceTimersByTimeAsync(3_000)
  expect(said.slice(1)).toEqual([['policy-refused', missing('secrets').message]])
  lacks = undefined
  await vi.advanceTimersByTimeAsync(5_000)
  expect(said.slice(2)).toEqual([['policy-taken', undefined]])
})

it('does not try a policy again after a later one was taken, until it changes or is read anew', async () => {
  let tries = 0
  let lacks = true
  const { said, taken, watched, write } = watching((text) => {
    tries += 1
    if (lacks) throw missing('secret')
    return parsePolicy(text)
  })
  write(textOf(2))
  await vi.advanceTimersByTimeAsync(3_000)
  // An administrator has put another one.
  taken.policies += 1
  const tried = tries
  await vi.advanceTimersByTimeAsync(30_000)
  expect(tries).toBe(tried)
  watched.read()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(tries).toBeGreaterThan(tried + 1)
  lacks = false
  await vi.advanceTimersByTimeAsync(5_000)
  expect(said.at(-1)).toEqual(['policy-taken', undefined])
})

it('takes a text that was refused before once it is back after another one', async () => {
  let lacks = true
  const { said, write } = watching((text) => {
    if (lacks && text === textOf(2)) throw missing('secret')
    return parsePolicy(text)
  })
  const is = async (text: string): Promise<unknown> => {
    write(text)
    await vi.advanceTimersByTimeAsync(3_000)
    return said.at(-1)
  }
  const [taken, refused] = [
    ['policy-taken', undefined],
    ['policy-refused', expect.any(String)],
  ]
  expect([await is(textOf(2)), await is(textOf(3))]).toEqual([refused, taken])
  lacks = false
  expect([await is(textOf(2)), await is('bad'), await is(textOf(3)), await is('bad')]).toEqual([taken, refused, taken, refused])
  expect(said).toHaveLength(6)
})

it('does not try a policy with mistakes again', async () => {
  let tries = 0
  const { said, write } = watching((text) => {
    tries += 1
    return parsePolicy(text)
  })
  write('version: 2\n')
  await vi.advanceTimersByTimeAsync(30_000)
  expect([tries, said]).toEqual([1, [['policy-refused', expect.stringContaining('policy.yaml:1:1: ')]]])
})

it('names a policy file that cannot be read', async () => {
  const { file, said } = watching((text) => parsePolicy(text))
  rmSync(file)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(said).toEqual([['policy-refused', expect.stringContaining(`${file} cannot be read: ENOENT`)]])
})
