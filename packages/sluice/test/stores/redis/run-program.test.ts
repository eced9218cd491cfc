import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { RedisPort } from '../../../src/stores/redis/clients/redis-port.ts'
import * as programs from '../../../src/stores/redis/programs.gen.ts'
import { programRunner } from '../../../src/stores/redis/run-program.ts'

const program = { sha1: 'sha', source: () => 'text' }
const NO = new Error('NOSCRIPT No matching script. Please use EVAL.')

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** Nodes of a cluster, chosen by the first letter of a key. A node knows the program only after its text was sent to it. */
function nodes(answer: () => Promise<unknown> = async () => 1): { port: RedisPort; sent: string[] } {
  const sent: string[] = []
  const known = new Set<string>()
  const port: RedisPort = {
    evalsha: async (_, [key = '']) => {
      sent.push(`digest ${key}`)
      await turn()
      if (!known.has(key[0] as string)) throw NO
      return key
    },
    eval: async (_, [key = '']) => {
      sent.push(`text ${key}`)
      await answer()
      known.add(key[0] as string)
      return key
    },
  }
  return { port, sent }
}

describe('a program that a server has forgotten', () => {
  it('is brought once: concurrent callers wait for it', async () => {
    const { port, sent } = nodes(turn)
    const run = programRunner(port)
    const keys = ['a1', 'a2', 'a3', 'a4']
    expect(await Promise.all(keys.map((key) => run(program, [key], [], () => false)()))).toEqual(keys)
    expect(sent.filter((one) => one.startsWith('text'))).toEqual(['text a1'])
    expect(sent).toHaveLength(8)
    expect(await run(program, ['a5'], [], () => false)()).toBe('a5')
    expect(sent).toHaveLength(9)
  })

  it('is brought to each node of a cluster', async () => {
    const { port, sent } = nodes(turn)
    const run = programRunner(port)
    expect(await Promise.all(['a', 'b', 'b2'].map((key) => run(program, [key], [], () => false)()))).toEqual(['a', 'b', 'b2'])
    expect(sent.filter((one) => one.startsWith('text')).map((one) => one[5])).toEqual(expect.arrayContaining(['a', 'b']))
  })

  it('is brought by the next, where bringing it failed', async () => {
    let failures = 1
    const { port, sent } = nodes(async () => {
      await turn()
      if (failures-- > 0) throw new Error('read ECONNRESET')
    })
    const run = programRunner(port)
    const settled = await Promise.allSettled(['a', 'a2'].map((key) => run(program, [key], [], () => false)()))
    expect(settled).toMatchObject([
      { status: 'rejected', reason: { message: 'read ECONNRESET' } },
      { status: 'fulfilled', value: 'a2' },
    ])
    expect(sent).toEqual(['digest a', 'digest a2', 'text a', 'digest a2', 'text a2'])
  })

  it('is not brought for those who no longer wait, and that is late, not refused', async () => {
    const { port, sent } = nodes(turn)
    const late = programRunner(port)(program, ['a'], [], () => true)()
    await expect(late).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout', executed: 'no' })
    let reads = 0
    const run = programRunner(port)
    const first = run(program, ['a'], [], () => false)()
    const second = run(program, ['a2'], [], () => reads++ > 0)()
    expect(await first).toBe('a')
    await expect(second).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    expect(sent).toEqual(['digest a', 'digest a', 'digest a2', 'text a'])
  })

  it('other errors are handed on', async () => {
    const port: RedisPort = { evalsha: () => Promise.reject(new Error('OOM')), eval: async () => 1 }
    await expect(programRunner(port)(program, ['a'], [], () => false)()).rejects.toThrow('OOM')
  })
})

describe('the embedded programs', () => {
  it.each(Object.entries(programs))('%s: its text has its digest', (_, { sha1, source }) => {
    expect(createHash('sha1').update(source()).digest('hex')).toBe(sha1)
  })
})
