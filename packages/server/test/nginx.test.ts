import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { findRedis, freePort, startEngine, startRedis } from '@sluice/scripts/engines'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
// Not installed for the test: Debian's package starts a server of its own.
const nginx = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'nginx'))
  .find((file) => existsSync(file))
const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()
const missing = [...(nginx === undefined ? ['nginx'] : []), ...('missing' in redis ? ['redis-server'] : [])]

const POLICY = `version: 1
failure: { deadline: 800ms }
trustedProxies: [loopback]
rules:
  - { name: per-client, key: [ip:address], rate: 1/h, burst: 1 }
`

/** The configuration as docs/service.md has it. */
function documented(): string {
  const page = readFileSync(new URL('../../../docs/service.md', import.meta.url), 'utf8')
  return /```nginx\n(.*?)```/s.exec(page)?.[1] ?? ''
}

/** An nginx with that configuration between its clients, a service and a backend that answers 200, or 500 at /broken. */
async function proxied(service: string): Promise<string> {
  const backend = createServer((request, response) => void response.writeHead(request.url === '/broken' ? 500 : 200).end('backend'))
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'sluice-nginx-'))]
  const locations = documented()
    .replaceAll('http://127.0.0.1:8081', service)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${(backend.address() as AddressInfo).port}`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  const http = `http { access_log off; ${paths} server { listen 127.0.0.1:${port}; ${locations} } }`
  writeFileSync(join(folder, 'nginx.conf'), `daemon off; pid ${folder}/pid; error_log stderr warn; events {} ${http}\n`)
  const url = `http://127.0.0.1:${port}`
  const engine = await startEngine(nginx ?? '', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    url,
    ready: () =>
      fetch(`${url}/sluice`).then(
        () => true,
        () => false,
      ),
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  })
  onTestFinished(async () => {
    await engine.stop()
    backend.closeAllConnections()
    backend.close()
  })
  return url
}

describe.skipIf(missing.length > 0)(
  `nginx, configured as documented${missing.length > 0 ? ` (skipped: ${missing.join(' and ')} missing)` : ''}`,
  () => {
    it(
      'U12: answers 429 for a denial, and 503, not 500, where the store is lost or the service is gone',
      { timeout: 120_000 },
      async () => {
        const engine = await startRedis('path' in redis ? redis.path : '')
        onTestFinished(engine.stop)
        const service = await serve([policyFile(POLICY), '--store', engine.url])
        const url = await proxied(service.url)
        const passed = await fetch(`${url}/x`)
        expect([passed.status, await passed.text(), passed.headers.get('ratelimit')]).toEqual([
          200,
          'backend',
          expect.stringContaining('r=0'),
        ])
        const denied = await fetch(`${url}/x`)
        expect([denied.status, Number(denied.headers.get('retry-after')) > 0]).toEqual([429, true])
        await engine.stop()
        // The denial is remembered for a second at most.
        await expect.poll(async () => (await fetch(`${url}/x`)).status, { timeout: 10_000 }).toBe(503)
        const undecided = await fetch(`${url}/x`)
        expect([undecided.status, Number(undecided.headers.get('retry-after')) > 0]).toEqual([503, true])
        await service.stop()
        expect((await fetch(`${url}/x`)).status).toBe(503)
      },
    )

    it('S9: answers 400 for a target that cannot be read, which nginx passes on', async () => {
      const edits = '  - { name: edits, match: { path: /api/*/edit }, key: [], rate: 1/h, burst: 1 }\n'
      const service = await serve([policyFile(POLICY.replace('burst: 1', 'burst: 9') + edits)])
      onTestFinished(async () => void (await service.stop()))
      const { hostname, port } = new URL(await proxied(service.url))
      const status = (path: string): Promise<number | undefined> =>
        new Promise((resolve, reject) => {
          httpRequest(
            { hostname, port, path, agent: false },
            (response) => void response.resume().on('end', () => resolve(response.statusCode)),
          )
            .on('error', reject)
            .end()
        })
      expect([await status('/api/1#/edit'), await status('/api/1/edit'), await status('/api/1/edit'), await status('/other')]).toEqual([
        400, 200, 429, 200,
      ])
    })

    it('leaves the answers of the backend alone', async () => {
      const service = await serve([policyFile(POLICY.replace('burst: 1', 'burst: 9'))])
      onTestFinished(async () => void (await service.stop()))
      expect((await fetch(`${await proxied(service.url)}/broken`)).status).toBe(500)
    })
  },
)
