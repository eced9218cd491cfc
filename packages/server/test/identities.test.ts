import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { LimiterError } from 'sluice'
import { parsePolicy } from 'sluice/policy'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createIdentities } from '../src/identity/identities.ts'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const { redis } = inject('engines')
const policyFile = policyFiles()
const RULES = `
rules:
  - name: tokens-${process.pid}
    key: [jwt:sub]
    tiers:
      - { when: { jwt:plan: big }, rate: 1/h, burst: 4 }
      - { rate: 1/h, burst: 2 }
`
/** Beside the policies of this file. */
function writeNextTo(policy: string, name: string, content: string | Uint8Array): void {
  writeFileSync(join(dirname(policy), name), content)
}

it('a policy that only bounds reservations needs no file for them', async () => {
  const identities = await createIdentities('policy.yaml', parsePolicy('version: 1\nreservations: { maxHolds: 2 }\nrules: []\n'), () => {})
  expect(identities.holdSecret()).toBeUndefined()
})

describe('a service that verifies tokens', () => {
  it('O7: counts by what a verified token says, and takes all others for none', async () => {
    const file = policyFile(`version: 1\njwt: { jwksFile: ./keys.json, issuer: me, audience: api }\n${RULES}`)
    const [own, theirs] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
    writeNextTo(file, 'keys.json', JSON.stringify({ keys: [{ ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'ES256' }] }))
    const token = (claims: object, key = own.privateKey): Promise<string> =>
      new SignJWT({ iss: 'me', aud: 'api', ...claims }).setProtectedHeader({ alg: 'ES256', kid: 'k' }).setExpirationTime('1h').sign(key)
    const service = await serve(['--demo', file])
    onTestFinished(async () => void (await service.stop()))
    const remaining = async (authorization?: string): Promise<string> => {
      const answer = await fetch(`${service.url}/api/data`, authorization === undefined ? {} : { headers: { authorization } })
      return `${answer.status} ${answer.headers.get('x-ratelimit-remaining')} of ${answer.headers.get('x-ratelimit-limit')}`
    }
    const [big, small, forged] = [
      `Bearer ${await token({ sub: 'a', plan: 'big' })}`,
      `Bearer ${await token({ sub: 'b' })}`,
      `Bearer ${await token({ sub: 'a', plan: 'big' }, theirs.privateKey)}`,
    ]
    expect([await remaining(big), await remaining(big)]).toEqual(['200 3 of 4', '200 2 of 4'])
    expect(await remaining(small)).toBe('200 1 of 2')
    expect([await remaining(forged), await remaining(), await remaining(forged)]).toEqual(['200 1 of 2', '200 0 of 2', '429 0 of 2'])
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toMatch(/^sluice_tokens_total\{result="accepted"\} 2$/m)
    expect(text).toMatch(/^sluice_tokens_total\{result="cached"\} 1$/m)
    expect(text).toMatch(/^sluice_tokens_total\{result="signature"\} 2$/m)
    expect(service.output()).not.toContain('no jwt section')
    const warnings = async (authorization: string): Promise<string[]> => {
      const { stdout, stderr } = await run(['explain', file, '--path', '/', '--header', `authorization:${authorization}`])
      return [stdout, stderr]
    }
    expect(await warnings(big)).toEqual([expect.stringContaining('matches, enforce, tier jwt:plan=big\n    key: jwt:sub = "a"'), ''])
    expect(await warnings(forged)).toEqual([
      expect.stringContaining('jwt:sub is absent'),
      'sluice: explain: the token is ignored: signature\n',
    ])
  })

  it.each([
    ['jwt: { secretFile: ./nowhere }', 'jwt.secretFile ./nowhere cannot be read: ENOENT'],
    ['identifiers: { mode: hmac, secretFile: ./short }', 'identifiers.secretFile ./short holds 9 bytes: expected at least 32'],
  ])('does not start in one line with %s', async (section, line) => {
    const file = policyFile(`version: 1\n${section}\n${RULES}`)
    writeNextTo(file, 'short', 'too short\n')
    const ran = await run(['serve', '--demo', file], { PORT: '0' })
    expect([ran.code, ran.stdout, ran.stderr.split('\n').length]).toEqual([1, '', 2])
    expect(ran.stderr).toContain(`sluice: ${line}`)
  })
})

describe.skipIf(redis === undefined)('a service that keeps identities under other names', () => {
  it('puts no value of a request into the store, and finds the key by its value', async () => {
    const secret = randomBytes(32).toString('hex')
    const name = `hmac-${process.pid}`
    const file = policyFile(
      `version: 1\nfailure: { deadline: 20s }\nidentifiers: { mode: hmac, secretFile: ./secret }\nrules:\n  - { name: ${name}, key: ["header:x-api-key"], rate: 1/h, burst: 5 }\n`,
    )
    writeNextTo(file, 'secret', secret)
    const service = await serve(['--demo', file, '--store', redis as string])
    await fetch(`${service.url}/api/data`, { headers: { 'x-api-key': 'alice@example.com' } })
    expect(await service.stop()).toBe(0)
    const client = new Redis(redis as string)
    onTestFinished(() => client.disconnect())
    const keys = await client.keys(`*${name}*`)
    expect(keys).toHaveLength(1)
    expect(keys.join('\n')).not.toContain('alice')
    const place = ['--store', redis as string, '--policy', file]
    const ran = await run(['inspect', 'alice@example.com', ...place])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain(`  ${name}, as header:x-api-key: 4 of 5, one more in `)
    expect(ran.stdout).toContain(`state ${keys[0]?.replace(/^sluice:\{[^}]+\}/, '')}\n`)
  })
})

describe('identities', () => {
  // The secrets are texts, because a line break at the end of a secret's file does not count. Random bytes might end with one.
  const secrets = [32, 40].map((bytes) => Buffer.from(randomBytes(bytes).toString('hex')))
  const policy = (section: string) => parsePolicy(`version: 1\n${section}\n${RULES}`)

  it('change with the policy, and stay where the next one cannot be taken in', async () => {
    const file = policyFile('version: 1\nrules: []\n')
    secrets.forEach((secret, index) => writeNextTo(file, `${basename(file)}-${index}`, secret))
    const hmac = (index: number) => policy(`identifiers: { mode: hmac, secretFile: ./${basename(file)}-${index} }`)
    const signed = (index: number): Promise<string> =>
      new SignJWT({ sub: 'a' }).setProtectedHeader({ alg: 'HS256' }).sign(secrets[index] as Uint8Array)
    const facts = async (index: number) => ({ method: 'GET', path: '/', headers: { authorization: `Bearer ${await signed(index)}` } })
    const expected = (index: number): string =>
      createHmac('sha256', secrets[index] as Uint8Array)
        .update('a')
        .digest()
        .subarray(0, 16)
        .toString('base64url')

    const results: string[] = []
    const identities = await createIdentities(file, hmac(0), (result) => void results.push(result))
    expect([identities.pseudonym('a'), await identities.claims(await facts(0))]).toEqual([expected(0), undefined])
    const prepared = await identities.prepare(hmac(1))
    expect([prepared.pseudonym?.('a'), identities.pseudonym('a')]).toEqual([expected(1), expected(0)])
    prepared.use()
    expect(identities.pseudonym('a')).toBe(expected(1))
    await expect(identities.prepare(hmac(2))).rejects.toThrow(LimiterError)
    expect(identities.pseudonym('a')).toBe(expected(1))

    ;(await identities.prepare(policy(`jwt: { secretFile: ./${basename(file)}-1 }`))).use()
    expect(await identities.claims(await facts(1))).toMatchObject({ sub: 'a' })
    // The secret changes. So a token that was verified with the previous secret is no longer accepted.
    ;(await identities.prepare(policy(`jwt: { secretFile: ./${basename(file)}-0 }`))).use()
    expect(await identities.claims(await facts(1))).toBeUndefined()
    expect(results).toEqual(['accepted', 'signature'])
  })
})
