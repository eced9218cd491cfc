import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as plainServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { fetchPolicy } from '../src/policy/fetch-policy.ts'
import { certify, openssl } from './certify.ts'
import { run, serveBuilt } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-remote-'))
const { redis } = inject('engines')
/** Two workers, if there is a store that they can share. */
const WORKERS = redis === undefined ? [] : ['--workers', '2', '--store', redis]
const at = (name: string): string => join(folder, name)
/** A long deadline, because the workers share a store, and a busy machine may be late. */
const policyOf = (burst: number): string =>
  `version: 1\nfailure: { deadline: 20s }\nrules:\n  - { name: a, key: ["header:x-user"], rate: 1/h, burst: ${burst} }\n`
const REQUEST = ['--path', '/', '--header', 'x-user:ada']

beforeAll(() => {
  if ('missing' in openssl) return
  certify(folder, 'authority', 'authority')
  certify(folder, 'host', 'authority')
  writeFileSync(at('token'), 'the-token-of-the-policy\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Site {
  readonly url: string
  readonly port: number
  /** What requests brought. */
  readonly seen: IncomingMessage[]
}

async function listening(server: Server, scheme: string, seen: IncomingMessage[]): Promise<Site> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `${scheme}://127.0.0.1:${port}`, port, seen }
}

/** A server by https whose certificate a private authority signed. */
function site(answer: RequestListener): Promise<Site> {
  const seen: IncomingMessage[] = []
  const options = { key: readFileSync(at('host.key')), cert: readFileSync(at('host.pem')) }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(request)
    answer(request, response)
  }
  return listening(createServer(options, listener), 'https', seen)
}

function plainSite(answer: RequestListener): Promise<Site> {
  const seen: IncomingMessage[] = []
  const server = plainServer((request, response) => {
    seen.push(request)
    answer(request, response)
  })
  return listening(server, 'http', seen)
}

/** A policy that changes, with an entity tag for each text. */
function published(first: string) {
  const now = { text: first, status: 200 }
  const answer: RequestListener = ({ headers }, response) => {
    const etag = `"${Buffer.from(now.text).toString('base64url').slice(-40)}"`
    if (now.status !== 200) return void response.writeHead(now.status).end('no')
    if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    response.writeHead(200, { etag, 'content-type': 'application/yaml' }).end(now.text)
  }
  return { now, answer }
}

const CA = (): string[] => ['--policy-ca', at('authority.pem')]
const remaining = async (url: string): Promise<unknown> =>
  ((await (await fetch(`${url}/v1/check`, { method: 'POST', body: '{"key":"k","limit":"a"}' })).json()) as { limits: { limit: number }[] })
    .limits[0]?.limit

describe.skipIf('missing' in openssl)('a policy at an https:// URL', () => {
  it('is read by check, explain and inspect, with the certificates and the token that are named', async () => {
    const { url, seen } = await site(({ headers }, response) => {
      if (headers.authorization !== 'Bearer the-token-of-the-policy') return void response.writeHead(401).end()
      response.writeHead(200, { 'content-type': 'text/plain' }).end(policyOf(3))
    })
    const policy = `${url}/policy.yaml?signature=secret`
    const named = [policy, ...CA(), '--policy-token-file', at('token')]
    const checked = await run(['check', ...named])
    expect(checked).toMatchObject({ code: 0, stderr: '' })
    expect(checked.stdout).toContain(`${url}/policy.yaml: valid, dialect native, 1 rule`)
    expect(checked.stdout).not.toContain('secret')
    expect((await run(['explain', ...named, ...REQUEST])).stdout).toContain('limit: token-bucket: 1 an hour, burst 3')
    const inspected = await run(['inspect', 'ada', '--policy', ...named, '--store', 'pglite:'])
    expect([inspected.code, inspected.stdout]).toEqual([0, expect.stringContaining('a, as header:x-user: 3 of 3, fresh')])
    expect(seen[0]?.headers).toMatchObject({ 'user-agent': 'sluice', 'accept-encoding': 'identity' })
    const [untrusted, unauthorized] = await Promise.all([run(['check', policy]), run(['check', policy, ...CA()])])
    expect([untrusted.code, untrusted.stderr]).toEqual([
      2,
      expect.stringMatching(/^sluice: policy https:\S+ cannot be fetched: [^\n]*cert/),
    ])
    expect([unauthorized.code, unauthorized.stderr]).toEqual([
      1,
      expect.stringContaining('it answered 401: does it need --policy-token-file?'),
    ])
    for (const { stderr } of [untrusted, unauthorized]) expect(stderr).not.toContain('secret')
  })

  it('is polled with its entity tag: a good change is used, and a bad one or a lost server changes nothing', async () => {
    const { now, answer } = published(policyOf(3))
    const { url, seen } = await site(answer)
    const service = await serveBuilt([`${url}/p`, ...CA(), '--policy-interval', '1s', ...WORKERS])
    onTestFinished(async () => void (await service.stop()))
    expect(await remaining(service.url)).toBe(3)
    const conditional = (): number => seen.filter(({ headers }) => headers['if-none-match'] !== undefined).length
    await expect.poll(conditional, { timeout: 10_000 }).toBeGreaterThan(2)
    expect(service.output()).not.toContain('policy taken')
    now.text = policyOf(4)
    await expect.poll(() => remaining(service.url), { timeout: 10_000 }).toBe(4)
    await expect.poll(() => service.output()).toContain(` info  policy taken from ${url}/p: 1 rule, hash `)
    now.text = 'version: 2\n'
    await expect.poll(() => service.output(), { timeout: 10_000 }).toContain('policy refused, the present one stays: ')
    now.status = 503
    await expect.poll(() => service.output(), { timeout: 10_000 }).toContain(`${url}/p cannot be fetched: it answered 503\n`)
    const before = seen.length
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(before + 1)
    expect(await remaining(service.url)).toBe(4)
    now.status = 200
    now.text = policyOf(5)
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(() => remaining(service.url), { timeout: 10_000 }).toBe(5)
    const lines = service.output().split('\n')
    expect(lines.filter((line) => line.includes('answered 503'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('the present one stays'))).toHaveLength(2)
    expect(lines.filter((line) => line.includes('is reached again'))).toHaveLength(1)
  })

  it.each([
    [
      'a server that is away',
      'https://127.0.0.1:1/p',
      2,
      /^sluice: policy https:\/\/127\.0\.0\.1:1\/p cannot be fetched: connect ECONNREFUSED[^\n]*\n$/,
    ],
    ['plain http to another machine', 'http://192.0.2.1/p', 3, /^sluice: policy http:\/\/192\.0\.2\.1\/p: expected https:\/\/[^\n]*\n$/],
    [
      'a login in the URL',
      'https://u:secret@127.0.0.1:1/p?x=secret',
      3,
      /^sluice: policy https:\/\/127\.0\.0\.1:1\/p: its URL has a login; [^\n]*\n$/,
    ],
    ['no URL', 'https://', 3, /^sluice: policy https:\/\/: expected https:\/\/HOST\/PATH[^\n]*\n$/],
  ])('serve, check and explain end in one line for %s', async (_what, policy, code, line) => {
    for (const args of [
      ['serve', policy],
      ['check', policy],
      ['explain', policy, '--path', '/'],
    ]) {
      const ran = await run(args, { PORT: '0' })
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringMatching(line)])
      expect(ran.stderr).not.toContain('secret')
    }
  })

  it.each([
    [404, {}, 'no', 'it answered 404'],
    [304, {}, '', 'it answered 304'],
    [200, { 'content-type': 'text/html; charset=utf-8' }, '<html>', 'it sent a web page (text/html): expected YAML or JSON'],
    [200, { 'content-encoding': 'gzip' }, 'x', 'it sent Content-Encoding gzip: expected none'],
    [200, {}, 'x'.repeat(1_048_577), 'its answer is larger than 1048576 bytes'],
    [302, {}, '', 'it answered 302 without the URL of a redirect'],
    [302, { location: 'http://127.0.0.1:1/' }, '', 'it redirected to http://127.0.0.1:1: expected https://... without a login'],
    [302, { location: 'https://u:secret@127.0.0.1:1/' }, '', 'expected https://... without a login'],
    [302, { location: '/again' }, '', 'it redirected more than 3 times'],
    [200, { 'content-type': 'application/json' }, 'version: 1', 'p:1:1'],
    [200, {}, Buffer.from([0xff, 0xfe]), 'UTF-8'],
  ])('an answer %i with %j is refused in one line', async (status, headers, body, line) => {
    const { url } = await site((_request, response) => void response.writeHead(status, headers).end(body))
    const ran = await run(['check', `${url}/p`, ...CA()])
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toContain(line)
    expect(ran.stderr).not.toContain('secret')
  })

  it('is followed through redirects by https, and the token goes to the first origin alone', async () => {
    const last = await site((_request, response) => void response.writeHead(200).end(policyOf(7)))
    const first = await site(({ url: path }, response) => {
      const location = path === '/p' ? '/moved' : `${last.url}/x`
      response.writeHead(307, { location }).end()
    })
    const ran = await run(['check', `${first.url}/p`, ...CA(), '--policy-token-file', at('token')])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(first.seen.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer the-token-of-the-policy'))
    expect(last.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('may be plain http on this machine, without an entity tag too', async () => {
    const { url, seen } = await plainSite(({ headers }, response) => {
      if (headers['if-modified-since'] !== undefined) return void response.writeHead(304).end()
      response.writeHead(200, { 'last-modified': 'Mon, 23 Nov 2026 00:00:00 GMT' }).end(policyOf(2))
    })
    const service = await serveBuilt([`${url}/p`, '--policy-interval', '1s'])
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(1)
    expect(seen[1]?.headers['if-modified-since']).toBe('Mon, 23 Nov 2026 00:00:00 GMT')
    await service.stop()
  })

  it('is given up when its server does not answer in time', async () => {
    const { url } = await plainSite(() => {})
    await expect(fetchPolicy(new URL(url), { ca: undefined, token: undefined, maxMs: 50 })).rejects.toThrow('no answer within 0.05 s')
  })

  it('is given up when the answer ends early, or never ends', async () => {
    const cut = await plainSite((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('version: 1')
      setTimeout(() => response.destroy(), 20)
    })
    await expect(fetchPolicy(new URL(cut.url), { ca: undefined, token: undefined })).rejects.toThrow('aborted')
    const slow = await plainSite((_request, response) => void response.writeHead(200).write('version: 1'))
    await expect(fetchPolicy(new URL(slow.url), { ca: undefined, token: undefined, maxMs: 100 })).rejects.toThrow('no answer within 0.1 s')
  })

  it.each([
    [['--policy-ca', 'no-such-file'], 3, 'policy: --policy-ca no-such-file cannot be read'],
    [['--policy-ca', 'package.json'], 3, 'policy: --policy-ca package.json is not PEM'],
    [['--policy-token-file', 'package.json'], 3, 'policy token file package.json: expected one line'],
    [['--policy-interval', '0.1s'], 3, '--policy-interval is "0.1s": expected a duration from 1s to 1d'],
    [['--policy-interval', 'soon'], 3, '--policy-interval is "soon"'],
  ])('refuses %j', async (args, code, line) => {
    const ran = await run(['serve', 'https://127.0.0.1:1/p', ...args], { PORT: '0' })
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringContaining(line)])
  })

  it('refuses its flags for a file', async () => {
    const ran = await run(['check', 'policy.yaml', '--policy-ca', 'x'])
    expect([ran.code, ran.stderr]).toEqual([3, 'sluice: --policy-ca is for a policy at https://...; policy.yaml is a file\n'])
  })
})
