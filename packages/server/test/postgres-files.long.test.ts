import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres, startPostgres } from '@sluice/scripts/engines'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { openStore } from '../src/stores/open-store.ts'
import { certify, openssl } from './certify.ts'
import { MAIN, run, serve, SYSTEM } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-files-'))
const at = (name: string): string => join(folder, name)
const PLACE = 'postgres://127.0.0.1:1/x'
const ONE_LINE = /^sluice: store[^\n]+\n$/

beforeAll(() => {
  execFileSync('sh', ['-c', `mkfifo ${at('fifo')}`])
  writeFileSync(at('large.pem'), 'x'.repeat(1_048_577))
  writeFileSync(at('tok'), 'a-token\n')
  const rules = 'rules:\n  - { name: a, key: [], rate: 1/s, burst: 1 }\n'
  writeFileSync(at('policy.yaml'), `version: 1\n${rules}`)
  writeFileSync(at('named.yaml'), `version: 1\nstore: ${PLACE}?sslrootcert=fifo\n${rules}`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command in a process of its own. The process is ended after 20 s, in case reading a file never ends. */
function ended(args: readonly string[]): Promise<{ code: unknown; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { timeout: 20_000, env: { ...SYSTEM, PORT: '0' } }, (_, _out, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    )
  })
}

describe('1: files named in the URL of a PostgreSQL', () => {
  it.each([
    ['serve', ['serve', 'POLICY', '--store', 'URL']],
    ['inspect', ['inspect', 'a', '--store', 'URL', '--policy', 'POLICY']],
    ['reset', ['reset', 'a', '--store', 'URL', '--policy', 'POLICY']],
    ['migrate', ['migrate', '--store', 'URL']],
    ['verify', ['verify', '--store', 'URL']],
  ])('do not hold up %s: a pipe is refused in one line', async (_name, args) => {
    const url = `${PLACE}?sslrootcert=${at('fifo')}`
    const ran = await ended(args.map((arg) => (arg === 'URL' ? url : arg === 'POLICY' ? at('policy.yaml') : arg)))
    expect(ran.stderr).toBe(
      `sluice: store: sslrootcert ${at('fifo')} cannot be read: it is a pipe; expected a regular file of at most 1048576 bytes\n`,
    )
    expect(ran.code).toBe(3)
  })

  it('do not hold up the service of a policy that names a pipe in its folder', async () => {
    const ran = await ended(['serve', at('named.yaml')])
    expect(ran.stderr).toMatch(/^sluice: store: sslrootcert fifo cannot be read: it is a pipe; [^\n]+\n$/)
    expect(ran.code).toBe(3)
  })

  it('do not fill the memory: a device is refused in one line', async () => {
    const ran = await ended(['migrate', '--store', `${PLACE}?sslrootcert=/dev/zero`])
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringMatching(/^sluice: store: sslrootcert \/dev\/zero cannot be read: it is a device; [^\n]+\n$/),
    ])
  })

  it.each(['sslcert', 'sslkey', '%73slrootcert'])('are refused as %s in one line, whatever keeps them from being used', async (name) => {
    const piped = await ended(['migrate', '--store', `${PLACE}?sslmode=no-verify&${name}=${at('fifo')}`])
    expect([piped.code, piped.stderr]).toEqual([3, expect.stringMatching(/cannot be read: it is a pipe; expected/)])
    const refusals: [string, RegExp][] = [
      ['/dev/null', /cannot be read: it is a device; expected/],
      [folder, /cannot be read: it is a folder; expected/],
      [at('nowhere'), /cannot be read: ENOENT/],
      [at('large.pem'), /cannot be read: it is larger than 1048576 bytes; expected/],
      [at('tok'), /tok is not PEM that can be used: expected .* in PEM/],
    ]
    for (const [file, line] of refusals) {
      const ran = await run(['migrate', '--store', `${PLACE}?${name}=${file}&sslmode=no-verify`])
      expect([ran.code, ran.stderr]).toEqual([3, expect.stringMatching(line)])
      expect(ran.stderr).toMatch(ONE_LINE)
    }
  })

  it.each(['postgres:x', 'postgresql:/x', 'postgres:/\t/127.0.0.1:1/x'])(
    'are not read behind %j either, which is no URL of a server',
    async (place) => {
      const ran = await ended(['migrate', '--store', `${place}?sslrootcert=${at('fifo')}`])
      expect(ran.stderr).toMatch(/^sluice: store postgres[^\n]* is not the URL of a store: expected postgres:\/\/HOST:PORT\/DATABASE\n$/)
      expect(ran.code).toBe(3)
    },
  )
})

const postgres = inject('engines').postgres === undefined ? { missing: 'no engine' } : findPostgres()

describe.skipIf('missing' in postgres || 'missing' in openssl)('1: TLS to a PostgreSQL with files of its URL', () => {
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
    const engine = await startPostgres('path' in postgres ? postgres.path : '')
    stop = engine.stop
    url = engine.url
    const { uid, gid } = statSync(`/proc/${engine.pid}`)
    chmodSync(folder, 0o755)
    chownSync(at('server.key'), uid, gid)
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const { rows } = await admin.query<{ file: string }>(`select current_setting('hba_file') as file`)
    const everyone = 'all all 127.0.0.1/32 trust'
    writeFileSync(rows[0]?.file ?? '', `hostnossl ${everyone}\nhostssl ${everyone} clientcert=verify-ca\n`)
    const settings = { ssl_cert_file: at('server.pem'), ssl_key_file: at('server.key'), ssl_ca_file: at('ca.pem'), ssl: 'on' }
    for (const [name, value] of Object.entries(settings)) await admin.query(`alter system set ${name} = '${value}'`)
    await admin.query('select pg_reload_conf()')
    await vi.waitFor(async () => expect((await admin.query('show ssl')).rows).toEqual([{ ssl: 'on' }]), { timeout: 10_000 })
    await admin.end()
  })
  afterAll(() => stop?.())
  const client = (): string => `sslcert=${at('client.pem')}&sslkey=${at('client.key')}`

  it.each([
    ['&application_name=a', 'ca'],
    ['&sslmode=verify-full', 'ca'],
    ['&sslmode=no-verify&application_name=a%20b', 'other'],
    ['&sslmode=no-verify&sslnegotiation=postgres&ssl=0', 'other'],
    ['&uselibpqcompat=true&sslmode=verify-ca', 'ca'],
    ['&uselibpqcompat=true&sslmode=prefer', 'other'],
  ])('is made with %s and an authority named %s', async (mode, ca) => {
    const { store, close } = await openStore(`${url}?${client()}&sslrootcert=${at(`${ca}.pem`)}${mode}`)
    onTestFinished(close)
    expect(store.capabilities.sync).toBe(false)
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const seen = await admin.query('select count(*)::int as encrypted from pg_stat_ssl where ssl and client_dn is not null')
    await admin.end()
    expect(seen.rows[0]).not.toEqual({ encrypted: 0 })
  })

  it('is looked for in the folder of the policy that names the files', async () => {
    const files = 'sslrootcert=ca.pem&sslcert=client.pem&sslkey=client.key'
    writeFileSync(at('reached.yaml'), `version: 1\nstore: ${url}?${files}\nrules:\n  - { name: a, key: [], rate: 1/s, burst: 1 }\n`)
    const service = await serve([at('reached.yaml'), '--require-store'])
    expect(await service.stop()).toBe(0)
  })

  it.each<[string, () => string, number, RegExp]>([
    ['another authority', () => `${client()}&sslrootcert=${at('other.pem')}`, 2, /certificate/],
    ['another authority and require', () => `${client()}&sslrootcert=${at('other.pem')}&sslmode=require`, 2, /certificate/],
    [
      'another authority, as libpq requires',
      () => `${client()}&sslrootcert=${at('other.pem')}&uselibpqcompat=true&sslmode=require`,
      2,
      /certificate/,
    ],
    [
      'no authority for verify-ca',
      () => `${client()}&uselibpqcompat=true&sslmode=verify-ca`,
      3,
      /has sslmode=verify-ca without sslrootcert: expected/,
    ],
    ['no certificate', () => `sslrootcert=${at('ca.pem')}`, 2, /client certificate/],
    ['12b: the key of another certificate', () => `sslcert=${at('client.pem')}&sslkey=${at('ca.key')}`, 3, /are not a pair/],
  ])('is refused in one line with %s', async (_what, parameters, code, line) => {
    const ran = await run(['migrate', '--store', `${url}?${parameters()}`])
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringMatching(line)])
    expect(ran.stderr).toMatch(ONE_LINE)
  })

  it('is not made with sslmode=disable, whatever files are named', async () => {
    const ran = await run(['migrate', '--store', `${url}?sslrootcert=${at('other.pem')}&sslmode=disable`])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
  })
})
