import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingHttpHeaders, request as httpRequest, type RequestOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, type ProxyName, startEngine } from '@sluice/scripts/engines'
import { inject, onTestFinished } from 'vitest'

export const EXAMPLES: string = fileURLToPath(new URL('../../../examples', import.meta.url))
/** The addresses at which the examples' files expect the service and the backend. */
const [SERVICE, BACKEND] = ['127.0.0.1:8081', '127.0.0.1:3000'] as const

interface Kind {
  /** The file of the example. */
  readonly file: string
  /** Changes what a test must change in the example: it uses free ports, and writes nothing outside of its folder. */
  prepare(text: string, folder: string): Promise<readonly [text: string, port: number]>
  args(file: string): readonly string[]
  /** The statuses that a client gets: `hung` if the service does not answer in time, `gone` if it does not run. */
  readonly hung: number
  readonly gone: number
  /** Whether the proxy passes on a `#` in a path as the client wrote it. */
  readonly passesHash: boolean
  /** How many milliseconds the example waits for an answer of the service. */
  readonly waitMs: number
}

export const KINDS: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    async prepare(text, folder) {
      const port = await freePort()
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
      // If nginx runs as root, its workers run as another user, who may not write here. So they are made to run as root, too.
      const user = process.getuid?.() === 0 ? 'user root; ' : ''
      const own = `${user}daemon off; pid ${folder}/pid; error_log stderr warn;\n`
      return [own + text.replace('http {', `http { access_log off; ${paths}`).replace('listen 8080', `listen 127.0.0.1:${port}`), port]
    },
    args: (file) => ['-e', 'stderr', '-c', file],
    hung: 503,
    gone: 503,
    passesHash: true,
    waitMs: 500,
  },
  caddy: {
    file: 'Caddyfile',
    async prepare(text) {
      const port = await freePort()
      const own = '{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\n'
      return [own + text.replace('http://:8080', `http://:${port}`), port]
    },
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    hung: 504,
    gone: 502,
    passesHash: false,
    waitMs: 500,
  },
  haproxy: {
    file: 'haproxy.cfg',
    async prepare(text, folder) {
      const [port, own] = [await freePort(), await freePort()]
      const lua = join(folder, 'sluice.lua')
      writeFileSync(lua, readFileSync(lua, 'utf8').replace('127.0.0.1:8082', `127.0.0.1:${own}`))
      const moved = text.replace('/etc/haproxy/', `${folder}/`).replace('127.0.0.1:8082', `127.0.0.1:${own}`)
      return [moved.replace('bind :8080', `bind 127.0.0.1:${port}`), port]
    },
    args: (file) => ['-db', '-f', file],
    hung: 503,
    gone: 503,
    passesHash: true,
    waitMs: 500,
  },
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Milliseconds until the whole answer was there. */
  readonly ms: number
}

export type Send = (path: string, options?: RequestOptions & { readonly body?: string }) => Promise<Answer>

export interface Proxied {
  readonly send: Send
  /** The targets that reached the backend. */
  readonly reached: string[]
}

/**
 * Starts a proxy with the configuration of its example, between clients, a service and a backend. The backend answers with the status that
 * the path ends with, or 200, and with the length of the body that it got.
 * @param patient whether the proxy waits longer than its example does, in a test that is not about lateness
 */
export async function proxied(name: ProxyName, service: string, patient = false): Promise<Proxied> {
  const reached: string[] = []
  const backend = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    reached.push(request.url ?? '')
    let length = 0
    request.on('data', (chunk: Buffer) => (length += chunk.length))
    request.on('end', () => response.writeHead(Number(/\d{3}$/.exec(request.url ?? '')?.[0] ?? 200)).end(`backend, ${length} bytes`))
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const kind = KINDS[name]
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`))
  for (const file of readdirSync(join(EXAMPLES, name))) cpSync(join(EXAMPLES, name, file), join(folder, file))
  const file = join(folder, kind.file)
  if (patient) for (const each of readdirSync(folder)) waitLonger(join(folder, each))
  const [text, port] = await kind.prepare(readFileSync(file, 'utf8'), folder)
  const here = `127.0.0.1:${(backend.address() as AddressInfo).port}`
  writeFileSync(file, text.replaceAll(SERVICE, new URL(service).host).replaceAll(BACKEND, here))
  const agent = new Agent({ keepAlive: true })
  const send = callerOf(port, agent)
  const engine = await startEngine(inject('engines').proxies[name] ?? '', kind.args(file), {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    url: `http://127.0.0.1:${port}`,
    ready: () =>
      send('/ready').then(
        ({ status }) => status === 200,
        () => false,
      ),
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  })
  onTestFinished(async () => {
    agent.destroy()
    await engine.stop()
    backend.closeAllConnections()
    backend.close()
  })
  return { send, reached }
}

/** Replaces the time limits of an example by one that no pause of a busy machine exceeds. */
function waitLonger(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/\b(?:250|500)ms\b/g, '20s').replace('timeout = 1000', 'timeout = 20000'))
}

/**
 * Sends requests to a port by node:http. `fetch` would send neither a Host header that the test chooses nor a target that is not
 * normalized.
 */
export function callerOf(port: number, agent: Agent): Send {
  return (path, { body, ...options } = {}) =>
    new Promise((resolve, reject) => {
      const started = performance.now()
      const request = httpRequest({ host: '127.0.0.1', port, path, agent, ...options }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, ms: performance.now() - started })
        })
      })
      request.on('error', reject).end(body)
    })
}
