import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { bench, facts } from './bench.ts'

/** Returns how many of these requests pass a rule of burst 3 that has this key. */
async function passed(key: string, requests: readonly Partial<RequestFacts>[]): Promise<number> {
  const { engine } = bench(`rules: [{ name: a, key: ["${key}"], rate: 1/h, burst: 3 }]`)
  let allowed = 0
  for (const request of requests) if ((await engine.decide(facts({ path: '/', ...request }))).allowed) allowed += 1
  return allowed
}

async function keyOf(key: string, request: Partial<RequestFacts>): Promise<string | null | undefined> {
  const { engine } = bench(`rules: [{ name: a, key: ["${key}"], rate: 1/h, burst: 3 }]`)
  return (await engine.explain(facts({ path: '/', ...request }))).rules[0]?.key?.[0]?.value
}

const spellings = (count: number, spelling: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => spelling(index))
/** Rewrites some characters of a text with `alter`: those whose bit is set in `index`. */
const altered = (text: string, index: number, alter: (character: string) => string): string =>
  Array.from(text, (character, at) => ((index >> at) & 1 ? alter(character) : character)).join('')
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16)}`
const octal = (character: string): string => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
const cookies = (values: readonly string[]): Partial<RequestFacts>[] =>
  values.map((value) => ({ headers: { cookie: `a=b; sid=${value}` } }))
const authorized = (values: readonly string[], name = 'authorization'): Partial<RequestFacts>[] =>
  values.map((value) => ({ headers: { [name]: value } }))

describe('S8: one session has one bucket, however its cookie is spelt', () => {
  it.each([
    ['percent-encoded', spellings(60, (index) => altered('realsession', index, percent))],
    ['quoted and percent-encoded', spellings(60, (index) => `"${altered('realsession', index, percent)}"`)],
    ['quoted with octal escapes', spellings(60, (index) => `"${altered('realsession', index, octal)}"`)],
    ['quoted with escaped characters', spellings(60, (index) => `"${altered('REALSESSION', index, (character) => `\\${character}`)}"`)],
    ['with what encodes nothing in it', spellings(60, (index) => `${altered('realsession', index, percent)}%zz`)],
    ['with a byte that is no UTF-8', spellings(60, (index) => `${altered('realsession', index, percent)}%f${index % 2 === 0 ? 'f' : 'F'}`)],
    ['in UTF-8, raw or encoded', spellings(60, (index) => altered('caf\u00c3\u00a9-session', index, percent))],
    [
      'with one quote and any end',
      spellings(60, (index) => `"realsession${String.fromCharCode(0x3f + index)}`).filter((text) => !/[\\;]/.test(text)),
    ],
  ])('%s', async (_how, values) => {
    expect(await passed('cookie:sid', cookies(values))).toBe(3)
  })

  it('two sessions stay two, and the key is the value that the backend sees', async () => {
    const key = (value: string) => keyOf('cookie:sid', { headers: { cookie: `sid=${value}` } })
    expect(await key('s%3Aabc.d%2Be')).toBe('s:abc.d+e')
    expect(await key('%22a%22')).toBe('"a"')
    expect(await key('"a"')).toBe('a')
    expect(await key('caf%C3%A9')).toBe('caf\u00e9')
    expect(await key('caf\u00c3\u00a9')).toBe('caf\u00e9')
    expect(await key('100%25')).toBe('100%')
    expect(await key('100%')).toBe('100%')
    expect(await key('a+b')).toBe('a+b')
    expect(await key('%FE')).not.toBe(await key('%FF'))
    expect(await key('%E4%FE')).not.toBe(await key('%E4%FF'))
    expect(await key('"')).toBe('(ambiguous)')
    expect(await key('""')).toBe('')
  })
})

describe('S8: one token has one bucket, however its Authorization is spelt', () => {
  it.each(['authorization', 'proxy-authorization'])('case of the scheme and blanks, in %s', async (name) => {
    const schemes = spellings(60, (index) => `${altered('bearer', index, (character) => character.toUpperCase())} token`)
    const blanks = spellings(50, (index) => `Bearer${(index % 2 === 0 ? ' ' : '\t ').repeat(index + 1)}token${' '.repeat(index)}`)
    expect(await passed(`header:${name}`, authorized([...schemes, ...blanks], name))).toBe(3)
  })

  it('what follows a token, which many a backend does not read', async () => {
    expect(await passed('header:authorization', authorized(spellings(20, (index) => `Bearer token junk${index}`)))).toBe(3)
    expect(await keyOf('header:authorization', { headers: { authorization: 'BEARER  Token  junk' } })).toBe('bearer Token')
  })

  it('other tokens, other schemes and other headers stay what they are', async () => {
    const six = spellings(6, (index) => `Bearer token${index}`)
    expect(await passed('header:authorization', authorized(six))).toBe(6)
    expect(await passed('header:authorization', authorized(['Bearer a', 'Basic a', 'Token a', 'a', 'Bearer A', 'Bearer']))).toBe(6)
    expect(await passed('header:x-token', authorized(['Bearer a', 'bearer a', 'bearer  a', 'bearer a b'], 'x-token'))).toBe(4)
  })

  it.each([
    [
      'SigV4',
      (index: number) =>
        `AWS4-HMAC-SHA256 Credential=AK${index}/20260101/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${index}`,
    ],
    ['Digest', (index: number) => `Digest username="u${index}", realm="Hello, dear users", uri="/", response="${index}"`],
    ['Digest with blanks', (index: number) => `Digest realm = "all", username = "u${index}", response="${index}"`],
  ])('clients whose credentials have commas are not one: %s', async (_scheme, text) => {
    expect(await passed('header:authorization', authorized(spellings(6, text)))).toBe(6)
    expect(await passed('header:authorization', authorized(spellings(6, () => text(1))))).toBe(3)
  })

  it('lines that were joined are still ambiguous', async () => {
    const joined = spellings(20, (index) =>
      [
        `Bearer junk${index}, Bearer real`,
        `Digest a="${index}", Basic cmVhbA==`,
        `junk${index},Bearer real`,
        `Digest a="${index}\\", Bearer real`,
      ].join('\n'),
    ).map((texts) => texts.split('\n'))
    for (const kind of [0, 1, 2, 3])
      expect(await passed('header:authorization', authorized(joined.map((texts) => texts[kind] as string)))).toBe(3)
  })

  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
  const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0'

  it.each([
    [
      'Basic with any padding and last bits',
      ['Basic cmVhbDpwdw==', 'Basic cmVhbDpwdw', 'Basic cmVhbDpwdw=', 'Basic cmVhbDpwdx==', 'basic cmVhbDpwdz', 'Basic cmVhbDpwdw===='],
    ],
    [
      'Bearer with something behind',
      [
        ...spellings(20, (index) => `Bearer tok,junk${index}`),
        ...spellings(20, (index) => `Bearer tok;junk${index}`),
        'Bearer tok',
        'Bearer "tok"',
        'Bearer token=tok',
      ],
    ],
    [
      'Token as a parameter',
      [
        'Token tok',
        'Token token=tok',
        'Token token="tok"',
        'Token Token = "t\\ok"',
        ...spellings(20, (index) => `Token token="tok", a=${index}`),
        ...spellings(20, (index) => `Token a=${index};token="tok"`),
      ],
    ],
  ])('S8: one spelling of one credential: %s', async (_what, texts) => {
    expect(
      new Set(await Promise.all(texts.map((authorization) => keyOf('header:authorization', { headers: { authorization } })))).size,
    ).toBe(1)
    expect(await passed('header:authorization', authorized(texts))).toBe(3)
  })

  it.each([
    ['characters that some decoders skip', (index: number) => `Basic cm${String.fromCharCode(0x21 + (index % 10))}VhbDpwdw==`],
    ['a dot anywhere', (index: number) => `Basic ${'cmVhbDpwdw'.slice(0, index % 9)}.${'cmVhbDpwdw=='.slice(index % 9)}`],
    ['characters of base64url, which Python skips', (index: number) => `Basic cm${'-_'.repeat(index + 1)}VhbDpwdw==`],
    ['text behind the padding', (index: number) => `Basic cmVhbDpwdw==A${index}`],
    ['a number sign behind the padding', (index: number) => `Basic cmVhbDpwdw==#${index}`],
    ['padding in the middle, which PHP skips', (index: number) => `Basic cmV${'='.repeat(index + 1)}hbDpwdw==`],
    ['a second word', (index: number) => `Basic cmVhbDpwdw== junk${index}`],
    ['blanks within', (index: number) => `Basic cmV${' '.repeat(index + 1)}hbDpwdw==`],
    ['two tokens', (index: number) => `Token token="junk${index}", token="tok"`],
    ['a token and a parameter', (index: number) => `Bearer junk${index}, token=tok`],
    ['two credentials on one line', (index: number) => `Bearer junk${index}, Bearer tok`],
  ])('S8: what decoders read differently is one bucket for all: %s', async (_what, text) => {
    const lines = spellings(30, text)
    expect(await passed('header:authorization', authorized(lines))).toBe(3)
    const raw = lines.map((line) => ({ headers: { authorization: line }, rawHeaders: ['Authorization', line] }))
    expect(await passed('header:authorization', raw)).toBe(3)
  })

  it('S8: credentials that differ keep their own buckets', async () => {
    const differ = [
      ...spellings(20, (index) => basic(`user${index}:pw`)),
      ...spellings(20, (index) => basic(`real:${'x'.repeat(index)}`)),
      ...spellings(20, (index) => `Bearer ${JWT}.c2lnbmF0dXJl${String.fromCharCode(0x41 + index)}-_`),
      ...spellings(20, (index) => `Bearer a-b_c${index}~+/.==`),
      ...spellings(20, (index) => `Token token="t${index}", nonce="a"`),
      ...spellings(20, (index) => `Token realm="all", id="u${index}"`),
      ...spellings(20, (index) => `Custom v1;key=${index}`),
    ]
    expect(await passed('header:authorization', authorized(differ))).toBe(140)
    expect(await keyOf('header:authorization', { headers: { authorization: `Bearer ${JWT}.a-_` } })).toBe(`bearer ${JWT}.a-_`)
    expect(await keyOf('header:authorization', { headers: { authorization: basic('real:pw') } })).toBe('basic cmVhbDpwdw==')
  })

  it('S8: an allowance or a refusal for a credential holds as strictly as one of its readings requires', async () => {
    const { engine } = bench(`
rules:
  - { name: a, key: [], tiers: [{ when: { "header:authorization": "Basic cmVhbDpwdw==" }, rate: 1/h, burst: 2 }, { rate: 1/h, burst: 9 }] }
`)
    const found: (number | undefined)[] = []
    for (const authorization of ['Basic cm!VhbDpwdw==', 'Basic cmVhbDpwdw==#1', 'Basic cm-VhbDpwdw==', 'Basic cmVhbDpwdx'])
      found.push((await engine.decide(facts({ path: '/', headers: { authorization } }))).limits[0]?.limit)
    expect(found).toEqual([2, 2, 2, 2])
  })

  it('a key of the policy and of an operator is spelt likewise', async () => {
    const { engine } = bench(`
rules:
  - { name: a, key: ["header:authorization"], tiers: [{ when: { "header:authorization": "Bearer  Big" }, rate: 1/h, burst: 9 }, { rate: 1/h, burst: 3 }] }
`)
    const limit = async (authorization: string) => (await engine.decide(facts({ path: '/', headers: { authorization } }))).limits[0]?.limit
    expect([await limit('bearer Big'), await limit('BEARER Big'), await limit('Bearer big')]).toEqual([9, 9, 3])
    await engine.blockKey({ key: 'Bearer   other' }, '1h')
    expect((await engine.decide(facts({ path: '/', headers: { authorization: 'bEARER other' } }))).reason).toBe('blocked')
  })
})

describe('S8: one resource has one bucket, however the signs in its path are spelt', () => {
  const paths = spellings(64, (index) => `/users/${altered('@:+,=|', index, percent)}`).map((path) => ({ path }))

  it.each(['path:', 'path:template'])('key %s', async (key) => {
    expect(await passed(key, paths)).toBe(3)
  })

  it.each([
    ['/users/@me/*', '/users/%40me/x'],
    ['/v1/model:generate', '/V1/model%3agenerate'],
    ['/v1/model%3Agenerate', '/v1/model:generate'],
    ['/a<b>/**', '/a%3Cb%3E'],
    ['/all/%2A', '/all/*'],
    ['/all/%2A', '/all/%2a'],
  ])('the pattern %s matches %s', async (pattern, path) => {
    const { engine } = bench(`rules: [{ name: a, match: { path: "${pattern}" }, key: [], rate: 1/h, burst: 3 }]`)
    expect((await engine.decide(facts({ path }))).limits).toHaveLength(1)
  })

  it('an encoded star is no wildcard', async () => {
    const { engine } = bench('rules: [{ name: a, match: { path: /all/%2A }, key: [], rate: 1/h, burst: 3 }]')
    expect((await engine.decide(facts({ path: '/all/x' }))).limits).toEqual([])
  })
})
