import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Packed } from '../release/pack.ts'

/** A registry as npm will see it after the release. */
export interface Registry {
  readonly url: string
  close(): Promise<void>
}

/** Serves the packed packages under their names, and sends npm to its usual registry for all others. */
export async function startRegistry(packages: readonly Packed[]): Promise<Registry> {
  const usual = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim().replace(/\/$/, '')
  const server = createServer(({ url = '/' }, response) => {
    const one = packages.find(({ manifest }) => url === `/${manifest.name}` || url === `/${manifest.name}.tgz`)
    if (one === undefined) return response.writeHead(307, { Location: usual + url }).end()
    if (url.endsWith('.tgz')) return response.writeHead(200).end(readFileSync(one.tarball))
    const { manifest, integrity } = one
    const { name, version } = manifest
    const { port } = server.address() as AddressInfo
    const dist = { integrity, tarball: `http://127.0.0.1:${port}/${name}.tgz` }
    const document = { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
