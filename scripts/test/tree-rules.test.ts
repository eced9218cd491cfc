import { describe, expect, it } from 'vitest'
import { checkLengths, checkNames } from '../src/tree-rules.ts'
import { tree } from './tree.ts'

const lines = (count: number): string => 'x\n'.repeat(count)

describe('checkLengths', () => {
  it('names code of more than 300 lines and lets data be', () => {
    const root = tree({
      'a/long.lua': lines(301),
      'a/fits.ts': lines(300),
      'a/programs.gen.ts': lines(900),
      'a/traces/long.ts': lines(900),
      'a/fixtures/long.mjs': lines(900),
      'node_modules/x/long.ts': lines(900),
      'notes.md': lines(900),
    })
    const { ok, text } = checkLengths(root)
    expect(ok).toBe(false)
    expect(text).toBe('a/long.lua: 301 lines, at most 300: make it two files of one idea each')
  })

  it('names lines of documents of more than 120 characters, but for what cannot be broken', () => {
    const [long, fits] = ['a word '.repeat(20), 'a word '.repeat(17)]
    const whole = [`| ${long} |`, '```sh', long, '```', `<!-- ${long} -->`, 'x'.repeat(200)]
    const { ok, text } = checkLengths(tree({ 'notes.md': [fits, long, ...whole, `- ${long}`].join('\n') }))
    expect(ok).toBe(false)
    expect(text).toBe('notes.md:2: 140 characters, at most 120\nnotes.md:9: 142 characters, at most 120')
  })
})

describe('checkNames', () => {
  it('refuses folders whose name says nothing, wherever they are', () => {
    const { ok, text } = checkNames(tree({ 'packages/server/src/utils/a/b.ts': '', 'bench/helpers/a.ts': '', 'docs/commonplace/a.md': '' }))
    expect(ok).toBe(false)
    expect(text.split('\n').map((problem) => problem.split(':')[0])).toEqual(['bench/helpers/', 'packages/server/src/utils/'])
  })

  it('keeps the name of a store in its room', () => {
    const root = tree({
      'packages/sluice/src/stores/redis/redis-store.ts': 'redis',
      'packages/sluice/src/policy/model/store-url.ts': `const schemes = ['redis:', 'rediss:', 'redis+cluster:']\n// as Redis does\n`,
      'packages/sluice/src/limiter/limiter.ts': '\n\nif (store.isRedis) {}',
      'packages/sluice/test/redis.test.ts': 'redis',
    })
    const { ok, text } = checkNames(root)
    expect(ok).toBe(false)
    expect(text.split('\n').map((problem) => problem.split(': ')[0])).toEqual([
      'packages/sluice/src/limiter/limiter.ts:3',
      'packages/sluice/src/policy/model/store-url.ts:2',
    ])
  })
})
