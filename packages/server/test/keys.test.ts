import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const { redis, postgres } = inject('engines')
const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const policyFile = policyFiles()
let made = 0

/** Makes rules with names that no other test has, because tests share the servers. */
function rules(): { name: string; file: string } {
  made += 1
  const name = `keys-${process.pid}-${made}`
  const rest = 'match: { path: /api/** }, rate: 1/h, burst: 5'
  const file = policyFile(
    `version: 1\nfailure: { deadline: 10s }\nrules:\n  - { name: ${name}, key: ["header:x-api-key"], ${rest} }\n  - { name: ${name}-all, key: [], ${rest} }\n`,
  )
  return { name, file }
}

describe.each([
  ['redis', redis],
  ['postgres', postgres],
])('a key in a store: %s', (_name, url) => {
  it.skipIf(url === undefined)('is inspected and reset, as requests through the service left it', async () => {
    const { name, file } = rules()
    const service = await serve([file, '--demo', '--store', url as string])
    for (let sent = 0; sent < 3; sent += 1) await fetch(`${service.url}/api/data`, { headers: { 'x-api-key': 'a b/ü' } })
    expect(await service.stop()).toBe(0)
    const place = ['--store', url as string, '--policy', file]
    const text = await run(['inspect', 'a b/ü', ...place])
    expect([text.code, text.stderr]).toEqual([0, ''])
    expect(text.stdout).toMatch(/^"a b\/ü" in \S+:\n/)
    expect(text.stdout).toMatch(
      new RegExp(
        `\n {2}${name}, as header:x-api-key: 2 of 5, one more in \\d+ ms, fresh in \\d+ ms\n {4}token-bucket, state policy:${name}:tb:`,
      ),
    )
    const json = await run(['inspect', 'a b/ü', ...place, '--limit', name, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      key: 'a b/ü',
      states: [{ name, limit: 5, remaining: 2, fresh: false, windowMs: 18_000_000 }],
    })
    const reset = await run(['reset', 'a b/ü', ...place])
    expect(reset).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^"a b\/ü" is fresh under every rule that has a key in \S+\n$/),
      stderr: '',
    })
    expect((await run(['inspect', ...place, '--', '-1'])).stdout).toContain(`  ${name}, as header:x-api-key: 5 of 5, fresh\n`)
    expect((await run(['inspect', 'a b/ü', ...place])).stdout).toContain(`  ${name}, as header:x-api-key: 5 of 5, fresh\n`)
  })

  it.skipIf(url === undefined)('is refused where no rule has the name', async () => {
    const { name, file } = rules()
    const ran = await run(['inspect', 'a', '--store', url as string, '--policy', file, '--limit', 'nope'])
    expect(ran).toEqual({ code: 3, stdout: '', stderr: `sluice: limit is "nope", expected a rule with a key: ${name}\n` })
  })
})

describe('a key of a running service', () => {
  it('is inspected, reset, blocked and unblocked by who has the token', async () => {
    const { name, file } = rules()
    const [token, wrong] = ['token', 'wrong'].map((text) => join(folder, text)) as [string, string]
    writeFileSync(token, 'a-token-of-administration\n')
    writeFileSync(wrong, 'another-token-altogether\n')
    const service = await serve([file, '--demo', '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    const status = async (): Promise<number> => (await fetch(`${service.url}/api/data`, { headers: { 'x-api-key': 'a/b?c' } })).status
    const verb = (...args: readonly string[]): ReturnType<typeof run> => run([...args, '--url', service.url, '--token-file', token])
    expect([await status(), await status()]).toEqual([200, 200])
    const shown = await verb('inspect', 'a/b?c')
    expect([shown.code, shown.stderr]).toEqual([0, ''])
    expect(shown.stdout).toContain(`"a/b?c" in ${service.url}:\n  ${name}, as header:x-api-key: 3 of 5, one more in `)
    expect(await verb('block', 'a/b?c', '15m', '--limit', name)).toEqual({
      code: 0,
      stdout: `"a/b?c" is blocked for 900000 ms under ${name} in ${service.url}\n`,
      stderr: '',
    })
    expect(await status()).toBe(429)
    expect((await verb('inspect', 'a/b?c')).stdout).toMatch(/^ {4}blocked for [89]\d{5} ms more$/m)
    expect((await verb('reset', 'a/b?c')).code).toBe(0)
    expect(await status()).toBe(429)
    const lifted = JSON.parse((await verb('unblock', 'a/b?c', '--json')).stdout) as unknown
    expect(lifted).toEqual({ key: 'a/b?c', source: service.url, blockedForMs: null, done: 'unblock' })
    expect(await status()).toBe(200)
    expect((await verb('inspect', 'a/b?c')).stdout).toContain('4 of 5')
    for (const [args, line] of [
      [[], '401: Administration needs the bearer token'],
      [['--token-file', wrong], '401: Administration needs the bearer token'],
      [['--token-file', token, '--limit', 'nope'], `404: limit is "nope", expected a rule with a key: ${name}`],
    ] as const) {
      const refused = await run(['reset', 'a/b?c', '--url', service.url, ...args])
      expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(`sluice: service ${service.url} answered ${line}`) })
    }
  })
})

describe('verbs for keys refuse in one line', () => {
  const verbs = [
    ['inspect', 'a'],
    ['reset', 'a'],
    ['block', 'a', '1m'],
    ['unblock', 'a'],
  ]

  it.each(verbs)('%s, where nobody can be reached', async (...verb) => {
    const ran = await run([...verb, '--url', 'http://127.0.0.1:1'])
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^sluice: service http:\/\/127\.0\.0\.1:1 cannot be reached: [^\n]+\n$/),
    })
    const store = await run([...verb, '--policy', rules().file], { SLUICE_STORE: 'redis://u:secret@127.0.0.1:1' })
    expect(store).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^sluice: store redis:\/\/\*\*\*@127\.0\.0\.1:1 cannot be reached: [^\n]+\n$/),
    })
  })

  it.each([
    [['--store', 'redis://127.0.0.1'], 'inspect: --store needs --policy'],
    [['--store', 'redis://127.0.0.1', '--url', 'http://127.0.0.1'], 'inspect: --store and --url exclude each other'],
    [['--policy', 'a.yaml'], 'inspect: --policy belongs to --store'],
    [['--store', 'memory:', '--policy', 'a.yaml'], 'inspect: a memory store is inside the process that serves'],
    [['--url', '127.0.0.1:8080'], '--url is not an address of a service'],
    [['--url', 'http://u:p@127.0.0.1'], '--url is not an address of a service'],
    [['--url', 'ftp://127.0.0.1'], '--url is not an address of a service'],
  ])('%j', async (args, line) => {
    expect(await run(['inspect', 'a', ...args])).toEqual({ code: 3, stdout: '', stderr: expect.stringContaining(`sluice: ${line}`) })
  })

  it('a duration that is not one', async () => {
    for (const duration of ['soon', '0s', '1e9d', '5'])
      expect(await run(['block', 'a', duration])).toEqual({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining(`block: "${duration}" is not a duration`),
      })
  })

  it.each(['inspect', 'reset', 'block', 'unblock'])('%s, a key that is empty', async (verb) => {
    const words = verb === 'block' ? ['', '5m'] : ['']
    expect(await run([verb, ...words, '--url', 'http://127.0.0.1:9'])).toEqual({
      code: 3,
      stdout: '',
      stderr: `sluice: ${verb}: KEY is empty; "sluice ${verb} --help" says what it takes\n`,
    })
  })

  it('a token that cannot be read', async () => {
    expect(await run(['inspect', 'a', '--token-file', join(folder, 'none')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read: ENOENT'),
    })
  })

  it.each([
    ['of two lines', 'the-first-secret\nthe-second-secret\n'],
    ['with a blank', 'the-first-secret the-second-secret'],
    ['with a character that is not ASCII', 'the-first-secret-\u20ac'],
    ['that is empty', '\n'],
  ])('a token %s, and does not print it', async (_name, text) => {
    const file = join(folder, 'bad')
    writeFileSync(file, text)
    expect(await run(['inspect', 'a', '--token-file', file])).toEqual({
      code: 3,
      stdout: '',
      stderr: `sluice: token file ${file}: expected one line of at most 8192 printable characters without blanks\n`,
    })
  })

  it('a server that is no Sluice', async () => {
    const other = createServer((_request, response) => void response.end('hello\nyou'))
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await run(['inspect', 'a', '--url', url])).toEqual({
      code: 1,
      stdout: '',
      stderr: `sluice: service ${url} answered what is not JSON: is it a Sluice?\n`,
    })
  })
})
