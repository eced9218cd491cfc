import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishAll } from '../../src/release/publish.ts'
import { tree } from '../tree.ts'

/**
 * Makes a fake npm. Its registry has the versions in `there` (name to digest), and it cannot publish the tarballs in `failing`. It records
 * what it publishes, with the token.
 */
function fakeNpm(there: Readonly<Record<string, string>>, failing: readonly string[] = []) {
  const code = `#!${process.execPath}
const { appendFileSync } = require('node:fs')
const [verb, ...args] = process.argv.slice(2)
const token = Object.entries(process.env).filter(([name]) => name.endsWith(':_authToken')).flat()
if (verb === 'config') console.log('https://packages.example/npm/')
else if (verb === 'view') {
  const digest = ${JSON.stringify(there)}[args[0]]
  if (digest === undefined) process.exit(1)
  console.log(digest)
} else if (${JSON.stringify(failing)}.includes(args[0])) process.exit(1)
else appendFileSync(__dirname + '/log', [...args, ...token].join(' ') + '\\n')
`
  const folder = tree({ npm: code, log: '' })
  chmodSync(join(folder, 'npm'), 0o755)
  return {
    env: { PATH: folder, NODE_AUTH_TOKEN: 'secret' },
    published: () => readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(0, -1),
  }
}

const LIBRARY = { manifest: { name: 'sluice', version: '1.0.0' }, tarball: 'sluice.tgz', integrity: 'sha512-a' }
const SERVER = { manifest: { name: 'sluice-server', version: '1.0.0' }, tarball: 'server.tgz', integrity: 'sha512-b' }
type Packages = Parameters<typeof publishAll>[0]
const BOTH = [LIBRARY, SERVER] as unknown as Packages
const WELL = { code: 0, line: 'published sluice@1.0.0 and sluice-server@1.0.0' }

describe('npm run release', () => {
  it('publishes the second package after the first', () => {
    const { env, published } = fakeNpm({})
    expect(publishAll(BOTH, 'trusted-publishing', env)).toEqual(WELL)
    expect(published()).toEqual(['sluice.tgz', 'server.tgz'])
  })

  it('leaves a package that is already there as it is, and publishes the second', () => {
    const { env, published } = fakeNpm({ 'sluice@1.0.0': 'sha512-a' })
    expect(publishAll(BOTH, 'trusted-publishing', env)).toEqual(WELL)
    expect(published()).toEqual(['server.tgz'])
  })

  it('stops at a package that is there with other contents', () => {
    const { env, published } = fakeNpm({ 'sluice@1.0.0': 'sha512-x' })
    const line = 'sluice@1.0.0 is already published, with other contents (sha512-x)'
    expect(publishAll(BOTH, 'trusted-publishing', env)).toEqual({ code: 1, line })
    expect(published()).toEqual([])
  })

  it.each([
    ['the first', ['sluice.tgz'], 'sluice@1.0.0', []],
    ['the second', ['server.tgz'], 'sluice-server@1.0.0', ['sluice.tgz']],
  ])('stops where npm cannot publish %s, and names it', (_, failing, name, before) => {
    const { env, published } = fakeNpm({}, failing)
    const line = `npm could not publish ${name}: mend it and run this again, what is published is left as it is`
    expect(publishAll(BOTH, 'trusted-publishing', env)).toEqual({ code: 1, line })
    expect(published()).toEqual(before)
  })

  it('gives npm the token for its registry, and asks for provenance in a workflow', () => {
    const { env, published } = fakeNpm({})
    expect(publishAll(BOTH, 'token', { ...env, ACTIONS_ID_TOKEN_REQUEST_URL: 'https://x' })).toEqual(WELL)
    expect(published()[0]).toBe('sluice.tgz --provenance npm_config_//packages.example/npm/:_authToken secret')
  })
})
