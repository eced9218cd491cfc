import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinary, type Found } from './find.ts'
import { freePort } from './ports.ts'
import { type Engine, startEngine } from './process.ts'

export function findRedis(): Found {
  return findBinary('redis-server', [], 'redis-server')
}

/** A private redis-server on a port of the loopback address, by default a free one. It keeps nothing on disk. */
export async function startRedis(binary: string, extra: readonly string[] = [], fixedPort?: number): Promise<Engine> {
  const port = fixedPort ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder, ...extra]
  return startEngine(binary, args, {
    url: `redis://127.0.0.1:${port}`,
    ready: () => answersPing(port),
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  })
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const finish = (ok: boolean): void => {
      socket.destroy()
      resolve(ok)
    }
    socket.once('data', (data) => finish(data.toString().startsWith('+PONG')))
    socket.once('error', () => finish(false))
    socket.setTimeout(500, () => finish(false))
  })
}
