import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePolicy } from 'sluice/policy'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readAdminToken } from '../src/http/admin.ts'
import { holdPolicy } from '../src/policy/held-policy.ts'
import { type PolicySource, readPolicySource, readPolicyText } from '../src/policy/read-policy.ts'
import { readSecret } from '../src/files/regular-file.ts'
import { keySource } from '../src/identity/key-source.ts'
import { watchFile } from '../src/files/watch-file.ts'
import { MAIN, run, serveBuilt } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-regular-'))
const at = (name: string): string => join(folder, name)
const RULES = 'version: 1\nrules:\n  - { name: a, key: ["header:x-a"], rate: 1/s, burst: 1 }\n'
const socket = createServer()
beforeAll(async () => {
  execFileSync('sh', ['-c', `mkfifo ${at('fifo')}`])
  mkdirSync(at('folder'))
  symlinkSync('/dev/zero', at('link-to-zero'))
  writeFileSync(at('large'), Buffer.alloc(1_048_577, 0x61))
  writeFileSync(at('largest'), Buffer.alloc(1_048_576, 0x61))
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve))
})
afterAll(() => {
  socket.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.each([
  ['fifo', 'it is a pipe; expected a regular file of at most 1048576 bytes'],
  ['/dev/zero', 'it is a device; expected a regular file of at most 1048576 bytes'],
  ['link-to-zero', 'it is a device; expected a regular file of at most 1048576 bytes'],
  ['folder', 'it is a folder; expected a regular file of at most 1048576 bytes'],
  ['large', 'it is larger than 1048576 bytes; expected a regular file of at most 1048576 bytes'],
  ['socket', 'ENXIO'],
  ['missing', 'ENOENT'],
])('S2: %s, named in a policy or for serve', (name, why) => {
  const file = name.startsWith('/') ? name : at(name)
  it.each<[string, () => unknown]>([
    ['identifiers.secretFile', () => readSecret(at('policy.yaml'), file, 'identifiers.secretFile')],
    ['jwt.secretFile', () => keySource(at('policy.yaml'), { by: 'secret', file } as Parameters<typeof keySource>[1])],
    ['jwt.jwksFile', () => keySource(at('policy.yaml'), { by: 'jwks', file } as Parameters<typeof keySource>[1])],
    ['admin token file', () => readAdminToken(file)],
    ['policy', () => readPolicyText(file)],
  ])('is one clear error as %s, at once', async (what, read) => {
    const reading = async (): Promise<unknown> => read()
    await expect(reading()).rejects.toThrow(`${what} ${file} cannot be read: `)
    await expect(reading()).rejects.toThrow(why)
  })
})

describe('S2: a policy file', () => {
  it('may come through a pipe for a command that ends, up to the same size', async () => {
    const path = at('policy.yaml')
    writeFileSync(path, RULES)
    const check = (from: string): string =>
      execFileSync('sh', ['-c', `cat ${from} | "$0" "$1" check /dev/stdin 2>&1 || true`, process.execPath, MAIN], { encoding: 'utf8' })
    expect(check(path)).toMatch(/^\/dev\/stdin: valid/)
    expect(check('/dev/zero')).toMatch(/^sluice: policy \/dev\/stdin cannot be read: it is larger than 1048576 bytes/)
    expect(readPolicyText(path, { pipes: true }).policy.rules).toHaveLength(1)
    expect((readPolicySource(at('largest')) as string).length).toBe(1_048_576)
  })

  it('that turns into a pipe while it is served holds up nobody, and the policy stays', async () => {
    const path = at('served.yaml')
    writeFileSync(path, RULES)
    const service = await serveBuilt([path])
    onTestFinished(async () => void (await service.stop()))
    execFileSync('sh', ['-c', `mkfifo ${path}.next && mv ${path}.next ${path}`])
    await expect.poll(service.output).toContain('cannot be read: it is a pipe')
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
    writeFileSync(`${path}.next`, `${RULES}# again\n`)
    renameSync(`${path}.next`, path)
    await expect.poll(service.output).toContain(`policy taken from ${path}: `)
  })

  it('S3: that is not UTF-8 is refused with its place by every verb, and by a service that runs', async () => {
    const path = at('latin1.yaml')
    writeFileSync(path, Buffer.from(`${RULES}# \xfc\n`, 'latin1'))
    for (const args of [
      ['check', path],
      ['explain', path, '--path', '/'],
      ['serve', path],
    ])
      expect(await run(args, { PORT: '0' })).toEqual({
        code: 1,
        stdout: '',
        stderr: `sluice: ${path}:4:3: byte 0xfc is not UTF-8: expected a text in UTF-8\n`,
      })
  })

  it('S3: that becomes something other than UTF-8 is counted as refused and changes nothing', async () => {
    const path = at('changing.yaml')
    writeFileSync(path, RULES)
    const { policy, text } = readPolicyText(path)
    const held = holdPolicy(
      policy,
      undefined,
      async () => {},
      async ({ text: source }) => parsePolicy(source, { filename: path }),
    )
    const refused: string[] = []
    const watched = watchFile<PolicySource>(path, text, {
      read: readPolicySource,
      changed: async (next) => {
        try {
          await held.replace({ text: next, filename: path })
        } catch (error) {
          refused.push((error as Error).message)
        }
      },
      unreadable: () => refused.push('(gone)'),
    })
    onTestFinished(() => watched.close())
    writeFileSync(path, Buffer.from(`${RULES}# \xff\n`, 'latin1'))
    await expect.poll(() => refused).toEqual([`${path}:4:3: byte 0xff is not UTF-8: expected a text in UTF-8`])
    expect([held.rejected, held.current]).toEqual([1, policy])
  })
})
