import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { pseudonymOf } from '../src/identity/identities.ts'
import { readSecret } from '../src/files/regular-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-secret-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a pseudonym', () => {
  it('is the first half of HMAC-SHA-256, as RFC 4231 has it', () => {
    const key = Buffer.alloc(20, 0x0b)
    expect(pseudonymOf(key)('Hi There')).toBe(Buffer.from('b0344c61d8db38535ca8afceaf0bf12b', 'hex').toString('base64url'))
  })

  it('separates identities and secrets, and nothing else', () => {
    const [one, other] = [pseudonymOf(Buffer.alloc(32, 1)), pseudonymOf(Buffer.alloc(32, 2))]
    expect(one('a')).toBe(one('a'))
    expect(new Set([one('a'), one('b'), one('ä'), one('a\u0308'), one(''), other('a')]).size).toBe(6)
    expect(one('x'.repeat(10_000))).toMatch(/^[\w-]{22}$/)
  })
})

describe('the file of a secret', () => {
  const policy = join(folder, 'policy.yaml')
  const write = (content: string): void => writeFileSync(join(folder, 'secret'), content)

  it.each(['', '\n', '\r\n'])('is read from the folder of the policy, without its last line break %j', (end) => {
    write(`${'s'.repeat(32)}${end}`)
    expect(Buffer.from(readSecret(policy, './secret', 'secret')).toString()).toBe('s'.repeat(32))
    expect(readSecret('/elsewhere/policy.yaml', join(folder, 'secret'), 'secret')).toHaveLength(32)
  })

  it.each([
    ['', 0],
    ['\n', 0],
    ['short\n', 5],
    ['s'.repeat(31), 31],
  ])('is refused where it holds %j', (content, length) => {
    write(content)
    expect(() => readSecret(policy, 'secret', 'identifiers.secretFile')).toThrow(
      `identifiers.secretFile secret holds ${length} bytes: expected at least 32`,
    )
  })

  it('is refused where its file cannot be read', () => {
    expect(() => readSecret(policy, 'nowhere', 'secret')).toThrow('secret nowhere cannot be read: ENOENT')
    expect(() => readSecret(policy, '.', 'secret')).toThrow(
      'secret . cannot be read: it is a folder; expected a regular file of at most 1048576 bytes',
    )
  })
})
