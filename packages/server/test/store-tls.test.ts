import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRedis, freePort, startRedis } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { certify, openssl } from './certify.ts'
import { run, type Running, serve } from './command.ts'

const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()
const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
const at = (name: string): string => join(folder, name)
const POLICY = 'version: 1\nrules:\n  - { name: a, key: ["header:x-a"], rate: 1/h, burst: 2 }\n'

describe.skipIf('missing' in redis || 'missing' in openssl)('S6: TLS to a Redis with certificates of its own', () => {
  let url: string
  let stop: () => Promise<void>
  beforeAll(async () => {
    for (const [name, issuer] of [
      ['ca', 'ca'],
      ['other', 'other'],
      ['server', 'ca'],
      ['client', 'ca'],
    ] as const)
      certify(folder, name, issuer)
    const port = await freePort()
    const files = ['--tls-cert-file', at('server.pem'), '--tls-key-file', at('server.key'), '--tls-ca-cert-file', at('ca.pem')]
    const engine = await startRedis('path' in redis ? redis.path : '', ['--tls-port', String(port), ...files, '--tls-auth-clients', 'yes'])
    stop = engine.stop
    url = `rediss://127.0.0.1:${port}`
    writeFileSync(at('policy.yaml'), POLICY)
    writeFileSync(at('tok'), 'a-token\n')
    writeFileSync(at('cut.pem'), `${readFileSync(at('ca.pem'), 'utf8')}-----BEGIN CERTIFICATE-----\nAAAA`)
  })
  afterAll(async () => {
    await stop?.()
    rmSync(folder, { recursive: true, force: true })
  })
  const withFiles = (ca: string, client: string | undefined, place = folder): string =>
    `${url}?ca=${join(place, `${ca}.pem`)}${client === undefined ? '' : `&cert=${join(place, `${client}.pem`)}&key=${join(place, `${client}.key`)}`}`
  const outcomeOf = async (service: Running): Promise<unknown> =>
    ((await (await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"key":"k","limit":"a"}' })).json()) as { source: unknown })
      .source

  it('is made with ca, cert and key', async () => {
    const service = await serve([at('policy.yaml'), '--store', withFiles('ca', 'client'), '--require-store'])
    onTestFinished(async () => void (await service.stop()))
    await expect.poll(() => service.output(), { timeout: 10_000 }).toContain(`; store ${url}?*** (`)
    await expect.poll(() => outcomeOf(service), { timeout: 10_000 }).toBe('store')
  })

  it('finds the files that a policy names in its folder, wherever the service is started', async () => {
    const place = at('elsewhere')
    mkdirSync(place)
    for (const name of ['ca.pem', 'client.pem', 'client.key']) copyFileSync(at(name), join(place, name))
    writeFileSync(join(place, 'policy.yaml'), `store: ${withFiles('ca', 'client', '')}\n${POLICY}`)
    const service = await serve([join(place, 'policy.yaml'), '--require-store'])
    onTestFinished(async () => void (await service.stop()))
    await expect.poll(() => outcomeOf(service), { timeout: 10_000 }).toBe('store')
  })

  it.each<[string, () => string, number, RegExp]>([
    ['another authority', () => withFiles('other', 'client'), 2, /certificate/],
    ['no authority', () => url, 2, /certificate/],
    ['a file that is not there', () => withFiles('nowhere', 'client'), 3, /ca \S+nowhere\.pem cannot be read: ENOENT/],
    ['a file that is a folder', () => `${url}?ca=${folder}`, 3, /cannot be read: it is a folder; expected a regular file/],
    [
      '12b: a certificate that is not PEM',
      () => `${url}?cert=${at('tok')}&key=${at('tok')}`,
      3,
      /cert \S+tok is not PEM that can be used: expected a certificate in PEM\n$/,
    ],
    [
      '12b: a key that is not PEM',
      () => `${url}?cert=${at('client.pem')}&key=${at('tok')}`,
      3,
      /key \S+tok is not PEM that can be used: expected a private key in PEM, without a passphrase\n$/,
    ],
    [
      '12b: an authority that is not PEM',
      () => `${url}?ca=${at('tok')}`,
      3,
      /ca \S+tok is not PEM that can be used: expected certificates in PEM\n$/,
    ],
    [
      '12b: an authority of which one certificate is cut off',
      () => `${url}?ca=${at('cut.pem')}`,
      3,
      /ca \S+cut\.pem is not PEM that can be used/,
    ],
    [
      '12b: the key of another certificate',
      () => `${url}?cert=${at('client.pem')}&key=${at('server.key')}`,
      3,
      /cert \S+client\.pem and key \S+server\.key are not a pair: expected a certificate and its private key\n$/,
    ],
    ['a misspelt parameter', () => `${url}?caa=x`, 3, /has the unknown parameter caa: expected tls, ca, cert, key\n$/],
    ['a certificate without its key', () => `${url}?cert=x`, 3, /has one of the parameters cert and key: expected both or none\n$/],
  ])('is refused in one line with %s, though a store may be away', async (_what, store, code, line) => {
    const ran = await run(['serve', at('policy.yaml'), '--store', store()], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toMatch(/^sluice: store[^\n]+\n$/)
    expect(ran.stderr).toMatch(line)
  })

  it('is not made without a certificate where the server requires one', async () => {
    const ran = await run(['serve', at('policy.yaml'), '--store', withFiles('ca', undefined), '--require-store'], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([2, ''])
  })
})
