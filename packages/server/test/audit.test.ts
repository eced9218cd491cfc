import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter, slidingWindowCounter, tokenBucket } from 'sluice'
import { redisStore } from 'sluice/redis'
import { expect, it } from 'vitest'
import { groupOf } from '../src/stores/audit/limit-name.ts'
import { run } from './command.ts'

/** Keys that the Redis store writes for callers, without the prefix. */
async function writtenKeys(callers: readonly string[]): Promise<readonly string[]> {
  const written = new Set<string>()
  const evalsha = async (_sha1: string, keys: readonly string[]): Promise<never> => {
    for (const key of keys) written.add(key.slice('sluice:'.length))
    throw new Error('no server')
  }
  const store = redisStore({ client: { evalsha, eval: evalsha }, ring: false })
  const limits = { perUser: tokenBucket({ rate: '1/s', burst: 5 }), 'a b:{c}': slidingWindowCounter({ limit: 5, window: '1s' }) }
  const limiter = createLimiter({ name: 'api', limits, store, onStoreFailure: 'allow' })
  for (const key of callers) await limiter.check(key)
  await limiter.reserve(callers[0] as string)
  await limiter.close()
  await store.close()
  return [...written]
}

it('audit names the limits of keys that the store writes, and records of holds', async () => {
  const keys = await writtenKeys(['user:42', '{x} \u{1F600}', 'k'.repeat(300)])
  expect(keys).toContain('{2Zn}api:perUser:tb:user:42')
  expect(keys).toHaveLength(7)
  expect(new Set(keys.map((key) => JSON.stringify(groupOf(key))))).toEqual(
    new Set([
      '{"limit":"api:perUser","algorithm":"token-bucket"}',
      '{"limit":"api:a%0020b%003a%007bc%007d","algorithm":"sliding-window-counter"}',
      '{"limit":"(records of holds)","algorithm":""}',
    ]),
  )
})

it.each([
  ['{abcd}john@example.com:secret-token:tb:x', '(other keys)'],
  ['{abc}john@example.com:secret-token:tb:x', '(other keys)'],
  ['{2Zn}john <j@example.com>:secret-token:tb:user:42', '(other keys)'],
  ['{2Zn}secret-token:tb:user:42', '(other keys)'],
  ['{17}john@example.com:secret-token:tb:x', '(other keys)'],
  ['{17}john@example.com:secret-token:sl:x', '(logs of the packed layout)'],
  ['{secret-token}', '(other keys)'],
  ['{abc}ho:secret-token', '(other keys)'],
  ['{17}', '(hashes of the packed layout)'],
  ['secret-token', '(other keys)'],
])('audit prints no part of a key of another program: %s', (key, limit) => {
  expect(groupOf(key).limit).toBe(limit)
})

it('audit refuses a folder of PGlite, which opening would write to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'))
  try {
    for (const url of [`pglite:${folder}`, `pglite:${join(folder, 'none')}`, 'pglite:']) {
      expect(await run(['audit', '--store', url])).toEqual({
        code: 3,
        stdout: '',
        stderr: expect.stringMatching(
          /^sluice: audit: [^\n]* cannot be read without being opened for writing[^\n]*stop the service[^\n]*\n$/,
        ),
      })
    }
    expect(readdirSync(folder)).toEqual([])
    expect((await run(['audit', '--help'])).stdout).not.toContain('pglite')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
