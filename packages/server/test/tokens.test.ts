import { generateKeyPair as generateNodeKeys, type KeyObject, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { prometheusMetrics } from 'sluice/observe'
import type { JwtChoice } from 'sluice/policy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenCounts } from '../src/identity/verifier.ts'
import { keySource } from '../src/identity/key-source.ts'
import { verifiedTokens } from '../src/identity/verifier.ts'
import { createVerifier, type TokenResult, type TokenVerifier } from '../src/identity/verifier.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-tokens-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const POLICY = join(folder, 'policy.yaml')
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return name
}

/** Making an RSA key is slow, so the tests share a few. One key is used for every RSA algorithm. */
const rsaKeys: Promise<{ publicKey: KeyObject; privateKey: KeyObject }>[] = []
const rsa = (nth: number) => (rsaKeys[nth] ??= promisify(generateNodeKeys)('rsa', { modulusLength: 2_048 }))

/** A verifier of tokens on a clock of its own, and a list of its results. */
async function verifier(
  choice: JwtChoice,
  remembered?: number,
): Promise<TokenVerifier & { results: TokenResult[]; clock: { now: number } }> {
  const [clock, results] = [{ now: 1_000_000_000_000 }, [] as TokenResult[]]
  const parts = {
    keys: (await keySource(POLICY, choice)).keys,
    choice,
    now: () => clock.now,
    count: (result: TokenResult) => void results.push(result),
  }
  return { ...createVerifier(remembered === undefined ? parts : { ...parts, remembered }), results, clock }
}
const bearer = (token: string): { headers: Record<string, string> } => ({ headers: { authorization: `Bearer ${token}` } })
const NOW_S = 1_000_000_000
const bySecret = (name: string): JwtChoice & { by: 'secret' } => ({ by: 'secret', file: name, algorithms: ['HS256'], leewayMs: 0 })
const PUBLIC = ['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA']
const byKeys = (name: string): JwtChoice => ({ by: 'jwks', file: name, algorithms: PUBLIC, leewayMs: 0 })

/** Not random: a secret that ends with a carriage return would lose it as a part of the line break of its file. */
const secret = Buffer.alloc(32, 's')
const signed = (
  claims: JWTPayload,
  header: { alg: string; kid?: string } = { alg: 'HS256' },
  key: Parameters<SignJWT['sign']>[0] = secret,
): Promise<string> => new SignJWT(claims).setProtectedHeader(header).sign(key)
const crafted = (header: object, claims: object, signature = ''): string =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + `.${signature}`

describe('a token signed with a secret', () => {
  const choice = bySecret('secret')
  beforeAll(() => void file('secret', Buffer.concat([secret, Buffer.from('\n')])))

  it('is believed, and verified once', async () => {
    const { claims, results } = await verifier(choice)
    const token = await signed({ sub: 'a', plan: 'big' })
    expect(await claims(bearer(token))).toEqual({ sub: 'a', plan: 'big' })
    expect(await claims({ headers: { authorization: [`bearer  ${token}`] } })).toEqual({ sub: 'a', plan: 'big' })
    expect(results).toEqual(['accepted', 'cached'])
  })

  it('is believed from nbf until exp, also where it is remembered', async () => {
    const { claims, results, clock } = await verifier(choice)
    const token = bearer(await signed({ sub: 'a', nbf: NOW_S + 10, exp: NOW_S + 20 }))
    const steps: [atS: number, believed: boolean][] = [
      [9, false],
      [10, true],
      [19, true],
      [20, false],
      [21, false],
    ]
    for (const [at, believed] of steps) {
      clock.now = (NOW_S + at) * 1_000
      expect([at, (await claims(token)) !== undefined]).toEqual([at, believed])
    }
    expect(results).toEqual(['early', 'accepted', 'cached', 'expired', 'expired'])
  })

  it('may be off by the leeway', async () => {
    const { claims, results, clock } = await verifier({ ...choice, leewayMs: 5_000 })
    const token = bearer(await signed({ nbf: NOW_S + 5, exp: NOW_S + 10 }))
    await claims(token)
    clock.now += 14_999
    await claims(token)
    clock.now += 1
    await claims(token)
    expect(results).toEqual(['accepted', 'cached', 'expired'])
  })

  it('must be for this audience, from this issuer, where the policy names them', async () => {
    const { claims, results } = await verifier({ ...choice, issuer: 'https://a.example', audience: ['api'] })
    const good = { iss: 'https://a.example', aud: ['web', 'api'] }
    for (const payload of [good, { ...good, aud: 'web' }, { ...good, iss: 'https://b.example' }, { iss: good.iss }, { aud: good.aud }])
      await claims(bearer(await signed(payload)))
    expect(results).toEqual(['accepted', 'claim', 'claim', 'claim', 'claim'])
  })

  it.each<[string, () => Promise<string> | string, TokenResult]>([
    ['another secret', () => signed({ sub: 'a' }, { alg: 'HS256' }, randomBytes(32)), 'signature'],
    ['no signature', () => crafted({ alg: 'none' }, { sub: 'a' }), 'algorithm'],
    ['no signature, oddly spelt', () => crafted({ alg: 'nOnE' }, { sub: 'a' }), 'algorithm'],
    ['no algorithm', () => crafted({}, { sub: 'a' }, 'AA'), 'malformed'],
    ['a longer digest than is agreed', () => signed({ sub: 'a' }, { alg: 'HS512' }, randomBytes(64)), 'algorithm'],
    ['a private key', async () => signed({ sub: 'a' }, { alg: 'RS256' }, (await rsa(0)).privateKey), 'algorithm'],
    [
      'claims that are changed',
      async () => (await signed({ sub: 'a' })).replace(/\.[^.]*\./, `.${Buffer.from('{"sub":"b"}').toString('base64url')}.`),
      'signature',
    ],
    ['claims that are no object', () => crafted({ alg: 'HS256' }, [], 'AA'), 'signature'],
    ['an exp that is no number', () => signed({ exp: 'never' as unknown as number }), 'claim'],
    ['a critical extension', () => crafted({ alg: 'HS256', crit: ['x'], x: 1 }, { sub: 'a' }, 'AA'), 'key'],
    ['two parts', () => 'a.b', 'malformed'],
    ['more than a token', () => 'a.b.c, Bearer d.e.f', 'malformed'],
    ['nothing', () => '', 'malformed'],
    ['more than anybody reads', () => `a.${'b'.repeat(20_000)}.c`, 'malformed'],
  ])('with %s gives no claims and is counted', async (_name, make, result) => {
    const { claims, results } = await verifier(choice)
    expect(await claims(bearer(await make()))).toBeUndefined()
    expect(results).toEqual([result])
  })

  it('is looked for in one place only', async () => {
    const { claims, results } = await verifier(choice)
    for (const headers of [{}, { authorization: 'Basic YTpi' }, { cookie: 'token=a.b.c' }, { authorization: undefined }])
      expect(await claims({ headers })).toBeUndefined()
    expect(results).toEqual([])
    const good = `Bearer ${await signed({ sub: 'a' })}`
    expect(await claims({ headers: { authorization: [good, good] } })).toBeUndefined()
    expect(results).toEqual(['malformed'])
  })

  it('is forgotten when too many others were seen since', async () => {
    const { claims, results } = await verifier(choice, 2)
    const [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((sub) => signed({ sub })))).map(bearer)
    for (const token of [a, b, a, c, a, b]) await claims(token as { headers: Record<string, string> })
    expect(results).toEqual(['accepted', 'accepted', 'cached', 'accepted', 'cached', 'accepted'])
  })
})

describe('a token signed with a key of a set', () => {
  const make = async (alg: string, kid?: string, nth = 0) => {
    const { privateKey, publicKey } = /^[RP]S/.test(alg) ? await rsa(nth) : await generateKeyPair(alg, { extractable: true })
    const jwk = await exportJWK(publicKey)
    return { alg, kid, privateKey, publicKey, jwk: kid === undefined ? jwk : { ...jwk, kid, alg } }
  }
  const header = ({ alg, kid }: { alg: string; kid?: string | undefined }) => (kid === undefined ? { alg } : { alg, kid })

  it.each(['RS256', 'ES256', 'EdDSA', 'PS384', 'ES512'])('%s is believed when the set has its key', async (alg) => {
    const [one, other] = await Promise.all([make(alg, 'one'), make(alg, 'other', 1)])
    const { claims, results } = await verifier(byKeys(file(`${alg}.json`, JSON.stringify({ keys: [one.jwk, other.jwk] }))))
    expect(await claims(bearer(await signed({ sub: 'a' }, header(other), other.privateKey)))).toEqual({ sub: 'a' })
    await claims(bearer(await signed({ sub: 'a' }, { alg, kid: 'one' }, other.privateKey)))
    await claims(bearer(await signed({ sub: 'a' }, { alg, kid: 'third' }, other.privateKey)))
    expect(results).toEqual(['accepted', 'signature', 'key'])
  })

  it('may leave out which one it was', async () => {
    const keys = await Promise.all([make('RS256'), make('RS256', undefined, 1), make('ES256')])
    const { claims, results } = await verifier(byKeys(file('nameless.json', JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))))
    for (const key of keys) await claims(bearer(await signed({ sub: 'a' }, { alg: key.alg }, key.privateKey)))
    await claims(bearer(await signed({ sub: 'a' }, { alg: 'RS256' }, (await rsa(2)).privateKey)))
    expect(results).toEqual(['accepted', 'accepted', 'accepted', 'signature'])
  })

  it('is not believed when the public key was its secret', async () => {
    const { jwk, publicKey } = await make('RS256')
    const { claims, results } = await verifier(byKeys(file('confused.json', JSON.stringify({ keys: [jwk] }))))
    for (const text of [await exportSPKI(publicKey), jwk.n as string, JSON.stringify(jwk)])
      expect(await claims(bearer(await signed({ sub: 'a' }, { alg: 'HS256' }, Buffer.from(text))))).toBeUndefined()
    await claims(bearer(crafted({ alg: 'none' }, { sub: 'a' })))
    expect(results).toEqual(Array<TokenResult>(4).fill('algorithm'))
  })

  it('is not believed by a key that it brings along', async () => {
    const [own, theirs] = await Promise.all([make('ES256', 'k'), make('ES256', 'k')])
    const { claims, results } = await verifier(byKeys(file('own.json', JSON.stringify({ keys: [own.jwk] }))))
    const token = new SignJWT({ sub: 'a' }).setProtectedHeader({ alg: 'ES256', kid: 'k', jwk: theirs.jwk })
    expect(await claims(bearer(await token.sign(theirs.privateKey)))).toBeUndefined()
    expect(results).toEqual(['signature'])
  })
})

describe('a token that was verified upstream', () => {
  it('is believed as it is, but must be one', async () => {
    const { claims, results } = await verifier({ by: 'upstream' })
    expect(await claims(bearer(crafted({ alg: 'RS256' }, { sub: 'a' }, 'AA')))).toEqual({ sub: 'a' })
    expect(await claims(bearer('a.b.c'))).toBeUndefined()
    expect(results).toEqual(['accepted', 'malformed'])
  })
})

describe('keys that cannot be used', () => {
  it.each<[string, () => Promise<JwtChoice> | JwtChoice, string]>([
    ['no secret', () => bySecret('none'), 'jwt.secretFile none cannot be read: ENOENT'],
    ['a short secret', () => bySecret(file('short', `${'x'.repeat(31)}\n`)), 'jwt.secretFile short holds 31 bytes: expected at least 32'],
    ['no JSON', () => byKeys(file('text', 'hello')), 'jwt.jwksFile text: no JSON'],
    ['no set', () => byKeys(file('list', '[]')), 'jwt.jwksFile list: no set of keys'],
    ['secrets only', () => byKeys(file('oct', '{"keys":[{"kty":"oct","k":"AAAA"},null]}')), 'no key in it can verify a token'],
    ['keys of encryption only', () => byKeys(file('enc', '{"keys":[{"kty":"RSA","use":"enc"}]}')), 'no key in it can verify a token'],
    ['a broken key', () => byKeys(file('broken', '{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"AA"}]}')), 'key "k" cannot be used'],
    [
      'a private key',
      async () => {
        const { privateKey } = await generateKeyPair('ES256', { extractable: true })
        return byKeys(file('private', JSON.stringify({ keys: [await exportJWK(privateKey)] })))
      },
      'jwt.jwksFile private: key 1 is a private key',
    ],
  ])('are refused: %s', async (_name, choice, message) => {
    await expect((async () => verifier(await choice()))()).rejects.toMatchObject({
      code: 'INVALID_POLICY',
      message: expect.stringContaining(message),
    })
  })
})

describe('what is remembered', () => {
  it('is bounded, and replaced in its place', () => {
    const known = verifiedTokens(2)
    known.add('a', { n: 1 }, 10)
    known.add('a', { n: 2 }, 10)
    known.add('b', {}, 10)
    expect([known.size, known.get('a', 9), known.get('b', 10), known.size]).toEqual([2, { n: 2 }, undefined, 1])
  })

  it('is counted without a name', () => {
    const counts = tokenCounts()
    for (const result of ['cached', 'expired', 'cached'] as const) counts.count(result)
    expect(prometheusMetrics({ read: [counts.metric] }).text()).toMatch(
      /^# HELP sluice_tokens_total [^\n]+\n# TYPE sluice_tokens_total counter\nsluice_tokens_total\{result="cached"\} 2\nsluice_tokens_total\{result="expired"\} 1$/m,
    )
  })
})
