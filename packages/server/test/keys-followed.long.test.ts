import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { parsePolicy } from 'sluice/policy'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createIdentities, type Identities } from '../src/identity/identities.ts'
import { remoteKeys, type RemoteOptions } from '../src/identity/remote-keys.ts'
import { createVerifier, type TokenResult } from '../src/identity/verifier.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-jwks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** Public keys and tokens of two keys of an issuer. */
const published: JWK[] = []
const tokens: string[] = []
beforeAll(async () => {
  for (const kid of ['first', 'second']) {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    published.push({ ...(await exportJWK(publicKey)), kid })
    tokens.push(await new SignJWT({ sub: kid }).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey))
  }
})
const setOf = (...places: readonly number[]): string => JSON.stringify({ keys: places.map((place) => published[place]) })
const facts = (place: number) => ({ method: 'GET', path: '/', headers: { authorization: `Bearer ${tokens[place]}` } })

describe('S5: a file of keys that is replaced', () => {
  async function following(): Promise<{ identities: Identities; file: string; said: string[] }> {
    const file = join(folder, 'keys.json')
    writeFileSync(file, setOf(0))
    const said: string[] = []
    const policy = parsePolicy('version: 1\njwt: { jwksFile: ./keys.json }\nrules: []\n')
    const identities = await createIdentities(
      join(folder, 'policy.yaml'),
      policy,
      () => {},
      (_level, line) => said.push(line),
    )
    onTestFinished(() => identities.close())
    return { identities, file, said }
  }

  it.each([
    ['written in place', (file: string, text: string) => writeFileSync(file, text)],
    [
      'renamed to its place',
      (file: string, text: string) => {
        writeFileSync(`${file}~`, text)
        renameSync(`${file}~`, file)
      },
    ],
  ])('is in force soon, and a revoked key is not believed any more: %s', async (_how, write) => {
    const { identities, file, said } = await following()
    const subjects = async (): Promise<unknown[]> => [
      (await identities.claims(facts(0)))?.['sub'],
      (await identities.claims(facts(1)))?.['sub'],
    ]
    expect(await subjects()).toEqual(['first', undefined])
    write(file, setOf(1))
    await expect.poll(subjects).toEqual([undefined, 'second'])
    expect(said).toEqual(['jwt.jwksFile ./keys.json was read again: its keys verify tokens from now on'])
    // Followed by the next policy as well.
    ;(await identities.prepare(parsePolicy('version: 1\njwt: { jwksFile: ./keys.json, issuer: x }\nrules: []\n'))).use()
    expect(await subjects()).toEqual([undefined, undefined])
    ;(await identities.prepare(parsePolicy('version: 1\njwt: { jwksFile: ./keys.json }\nrules: []\n'))).use()
    write(file, setOf(0, 1))
    await expect.poll(subjects).toEqual(['first', 'second'])
  })

  it('keeps the last good keys where the next are bad, and says so', async () => {
    const { identities, file, said } = await following()
    writeFileSync(file, '{"keys": [')
    await expect.poll(() => said.length).toBe(1)
    rmSync(file)
    await expect.poll(() => said.length).toBe(2)
    expect(said[0]).toMatch(/^the keys of jwt\.jwksFile \.\/keys\.json stay as they are: jwt\.jwksFile \.\/keys\.json: no JSON; expected/)
    expect(said[1]).toMatch(/^the keys of jwt\.jwksFile \.\/keys\.json stay as they are: it cannot be read: ENOENT/)
    expect(await identities.claims(facts(0))).toEqual({ sub: 'first' })
    writeFileSync(file, setOf(1))
    await expect.poll(async () => (await identities.claims(facts(0)))?.['sub']).toBeUndefined()
  })
})

describe('S5: keys of a URL', () => {
  it('stay as they are when another policy names the same URL, though the issuer cannot be reached then', async () => {
    let requests = 0
    const server = createServer((_request, response) => {
      requests += 1
      if (requests === 1) response.end(setOf(0))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    const policy = (more: string) => parsePolicy(`version: 1\njwt: { jwksUrl: "${url}", algorithms: [ES256]${more} }\nrules: []\n`)
    const results: TokenResult[] = []
    const identities = await createIdentities(
      join(folder, 'policy.yaml'),
      policy(''),
      (result) => results.push(result),
      () => {},
    )
    onTestFinished(() => {
      identities.close()
      server.closeAllConnections()
      server.close()
    })
    expect(await identities.claims(facts(0))).toEqual({ sub: 'first' })
    ;(await identities.prepare(policy(', leeway: 5s'))).use()
    // This token is new, and no key verifies it. The token that was verified before is still accepted.
    expect(await identities.claims(facts(1))).toBeUndefined()
    expect(await identities.claims(facts(0))).toEqual({ sub: 'first' })
    expect(results).not.toContain('unavailable')
  })

  /** Starts an issuer of keys, and a verifier that fetches its keys. Returns what was logged and how many requests came. */
  async function issuer(answer: RequestListener, options: RemoteOptions = {}) {
    let requests = 0
    const server = createServer((request, response) => {
      requests += 1
      answer(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    const source = remoteKeys(url, options)
    const [said, results] = [[] as string[], [] as TokenResult[]]
    const verifier = createVerifier({
      keys: source.keys,
      choice: { by: 'url', url, algorithms: ['ES256'], leewayMs: 0 },
      now: Date.now,
      count: (result) => void results.push(result),
    })
    const close = source.follow({ changed: verifier.forget, says: (_level, line) => said.push(line) })
    onTestFinished(() => {
      close()
      server.closeAllConnections()
      server.close()
    })
    const subject = async (place: number): Promise<unknown> => (await verifier.claims(facts(place)))?.['sub']
    return { subject, said, results, requests: () => requests, url }
  }

  it('are fetched, and those that are published no more are not believed, whatever was verified before', async () => {
    let keys = setOf(0)
    const { subject } = await issuer((_request, response) => response.end(keys), { fetchEveryMs: 50 })
    expect([await subject(0), await subject(0), await subject(1)]).toEqual(['first', 'first', undefined])
    keys = setOf(1)
    await expect.poll(() => subject(0)).toBeUndefined()
    expect(await subject(1)).toBe('second')
  })

  it('are requested once, however many tokens of unknown keys come', async () => {
    const { subject, requests, results } = await issuer((_request, response) => response.end(setOf(0)))
    await Promise.all(Array.from({ length: 50 }, () => subject(1)))
    expect([requests(), new Set(results)]).toEqual([1, new Set(['key'])])
  })

  it.each<[string, RequestListener, RegExp]>([
    ['too large', (_request, response) => response.end(`{"keys":[${' '.repeat(2_000_000)}]}`), /its answer is larger than 1048576 bytes$/],
    [
      'without end',
      (_request, response) => {
        response.write('{"keys":[')
      },
      /no answer within 0\.2 s$/,
    ],
    ['no JSON', (_request, response) => response.end('<html>'), /not valid JSON$/],
    ['no set', (_request, response) => response.end('{}'), /no set of keys; expected \{"keys": \[\.\.\.\]\}$/],
    [
      'elsewhere',
      (_request, response) => {
        response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
      },
      /it answered 302$/,
    ],
    [
      'an error',
      (_request, response) => {
        response.writeHead(500).end()
      },
      /it answered 500$/,
    ],
  ])('are not believed where they are %s: it is said once, and the issuer has a pause', async (what, answer, why) => {
    const { subject, said, results, requests, url } = await issuer(answer, { timeoutMs: what === 'without end' ? 200 : 20_000 })
    await expect.poll(() => said.length).toBe(1)
    for (let times = 0; times < 20; times += 1) expect(await subject(0)).toBeUndefined()
    expect([said.length, requests(), new Set(results)]).toEqual([1, 1, new Set(['unavailable'])])
    expect(said[0]?.startsWith(`the keys of jwt.jwksUrl ${url} cannot be fetched: `)).toBe(true)
    expect(said[0]).toMatch(why)
  })

  it('hold on for a while where the issuer cannot be reached, and no longer', async () => {
    let broken = false
    const { subject, said } = await issuer(
      (_request, response) => {
        if (broken) response.writeHead(503)
        response.end(setOf(0))
      },
      { fetchEveryMs: 50, maxAgeMs: 4_000, pauseMs: 0 },
    )
    expect(await subject(0)).toBe('first')
    broken = true
    await expect.poll(() => said.length).toBe(1)
    expect(await subject(0)).toBe('first')
    await expect.poll(() => subject(0)).toBeUndefined()
    broken = false
    await expect.poll(() => subject(0)).toBe('first')
    expect(said.at(-1)).toMatch(/were fetched again$/)
  })
})
