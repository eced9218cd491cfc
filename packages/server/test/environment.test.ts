import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { VERBS } from '../src/cli/command.ts'
import { flagsOf, variableOf, variableOfWord } from '../src/cli/flags.ts'
import { parseArguments } from '../src/cli/parse-arguments.ts'
import { run, serve } from './command.ts'

const TEMPLATE = 'packages/server/policies/rate-limiting-at-scale.yaml'
const folder = mkdtempSync(join(tmpdir(), 'sluice-environment-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const FLAGS = VERBS.flatMap((verb) => flagsOf(verb).map((flag) => [`${verb.name} --${flag.name}`, verb, flag] as const))
const words = (declared: readonly string[]): string[] => declared.filter((word) => !word.startsWith('[')).map((word) => `a-${word}`)
/**
 * For a Service named sluice, Kubernetes sets variables in each container, such as SLUICE_SERVICE_HOST. These are the ends of their names.
 */
const OF_KUBERNETES = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8080_TCP', 'PORT_8080_TCP_ADDR']

describe('O5: every flag has an environment variable', () => {
  it.each(FLAGS)('%s', async (_name, verb, flag) => {
    const rest = words(verb.words)
    const value = flag.value === '' ? 'true' : 'from-variable'
    const env = { [flag.variable]: value }
    const none = parseArguments(verb, rest, {})
    const byVariable = parseArguments(verb, rest, env)
    expect([none.origin(flag.name), none.called(flag.name), none.switch(flag.name)]).toEqual([undefined, `--${flag.name}`, false])
    expect([byVariable.origin(flag.name), byVariable.called(flag.name)]).toEqual(['variable', flag.variable])
    expect(byVariable.texts(flag.name)).toEqual(flag.value === '' ? [''] : ['from-variable'])
    const line = flag.value === '' ? [`--${flag.name}`] : [`--${flag.name}`, 'from-flag']
    const byFlag = parseArguments(verb, [...line, ...rest], env)
    expect([byFlag.origin(flag.name), byFlag.text(flag.name)]).toEqual(['flag', flag.value === '' ? '' : 'from-flag'])
    expect(byFlag.called(flag.name)).toBe(`--${flag.name}`)
    expect(parseArguments(verb, rest, { [flag.variable]: ' ' }).origin(flag.name)).toBeUndefined()
    const { stdout } = await run([verb.name, '--help'])
    expect(stdout).toMatch(new RegExp(`^  --${flag.name}[^\\n]*\\[${flag.variable}\\]$`, 'm'))
    for (const end of OF_KUBERNETES) expect(flag.variable.endsWith(`_${end}`), 'a variable of Kubernetes').toBe(false)
  })

  it('that of POLICY is SLUICE_POLICY, and only there does a word have one', async () => {
    const named = VERBS.flatMap((verb) => verb.words.filter((word) => variableOfWord(word) !== undefined))
    expect([...new Set(named)].sort()).toEqual(['POLICY', '[POLICY]'])
    const ran = await run(['check'], { SLUICE_POLICY: TEMPLATE })
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect((await run(['check', TEMPLATE], { SLUICE_POLICY: 'other.yaml' })).code).toBe(0)
  })

  it.each([
    ['true', true],
    ['1', true],
    ['Yes', true],
    ['on', true],
    ['false', false],
    ['0', false],
    ['no', false],
    ['off', false],
    ['', false],
  ])('a switch is set by %j: %s', async (text, set) => {
    const ran = await run(['check', TEMPLATE], { SLUICE_JSON: text })
    expect([ran.code, ran.stdout.startsWith('{')]).toEqual([0, set])
  })

  it.each([
    ['a,b', ['a', 'b']],
    [' a , ,b ', ['a', 'b']],
    ['a: 1,2\nb: 3\n', ['a: 1,2', 'b: 3']],
  ])('values of a flag that repeats: %j', (text, values) => {
    const explain = VERBS.find(({ name }) => name === 'explain')
    if (explain === undefined) throw new Error('no explain')
    expect(parseArguments(explain, ['p'], { SLUICE_HEADER: text }).texts('header')).toEqual(values)
  })
})

describe('O5: a wrong value names its variable', () => {
  const PATH = ['explain', TEMPLATE, '--path', '/']
  const REGION = ['--region', 'eu', '--region-key-file', 'key']
  it.each([
    [['check', TEMPLATE], 'SLUICE_JSON', 'perhaps', 3],
    [['check', TEMPLATE], 'SLUICE_STORE', 'mysql://h', 3],
    [['check'], 'SLUICE_POLICY', 'none.yaml', 1],
    [['verify', '--store', 'memory:'], 'SLUICE_PROCESSES', '0', 3],
    [['verify', '--store', 'memory:'], 'SLUICE_CALLERS', 'many', 3],
    [['verify', '--store', 'memory:'], 'SLUICE_SECONDS', '-1', 3],
    [['verify', '--store', 'memory:'], 'SLUICE_BURST', '0', 3],
    [['verify', '--store', 'memory:'], 'SLUICE_RATE', 'fast', 3],
    [['verify'], 'SLUICE_STORE', 'nothing', 3],
    [['verify'], 'SLUICE_STORE_FILE', 'no-such-file', 1],
    [['migrate', '--store', 'memory:'], 'SLUICE_YES', 'true', 3],
    [['serve', '--demo'], 'SLUICE_LISTEN', 'here', 3],
    [['serve', '--demo'], 'SLUICE_LISTEN', '0.0.0.0:80', 3],
    [['serve', '--demo'], 'PORT', 'x', 3],
    [['serve', '--demo'], 'SLUICE_WORKERS', '1.5', 3],
    [['serve', '--demo'], 'SLUICE_MAX_CONNECTIONS', '0', 3],
    [['serve', '--demo'], 'SLUICE_ALLOWED_HOST', 'a:1', 3],
    [['serve', '--demo'], 'SLUICE_ADMIN_TOKEN_FILE', 'no-such-file', 1],
    [['serve', '--demo', ...REGION], 'SLUICE_PEERS', 'us', 3],
    [['serve', '--demo', ...REGION, '--peers', 'us=http://h'], 'SLUICE_REGION_WEIGHTS', 'eu=1001', 3],
    [['serve', '--demo'], 'SLUICE_STORE', 'mysql://u:secret@h', 3],
    [['explain', TEMPLATE], 'SLUICE_PATH', 'x', 3],
    [PATH, 'SLUICE_IP', 'x', 3],
    [PATH, 'SLUICE_COST', '-1', 3],
    [PATH, 'SLUICE_HEADER', 'x', 3],
    [PATH, 'SLUICE_QUERY', 'x', 3],
    [PATH, 'SLUICE_CLAIM', 'x', 3],
    [['inspect', 'a'], 'SLUICE_URL', 'redis://h', 3],
    [['regions', 'status'], 'SLUICE_URL', 'redis://h', 3],
    [['inspect', 'a'], 'SLUICE_TOKEN_FILE', 'no-such-file', 1],
    [['inspect', 'a'], 'SLUICE_STORE', 'redis://h', 3],
    [['inspect', 'a', '--store', 'redis://127.0.0.1:1'], 'SLUICE_POLICY', 'none.yaml', 1],
  ])('%j %s=%s', async (args, variable, value, code) => {
    const ran = await run(args, { [variable]: value })
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toMatch(new RegExp(`^sluice: [^\\n]*\\b${variable}\\b[^\\n]*\\n$`))
    expect(ran.stderr).not.toContain('secret')
  })

  it.each([
    [{ SLUICE_STOER: 'x' }, 'SLUICE_STOER sets nothing: no flag has this variable (did you mean SLUICE_STORE?)'],
    [{ SLUICE_ADMIN_TOKEN: 'x' }, '(did you mean SLUICE_ADMIN_TOKEN_FILE?)'],
    [{ SLUICE_FROBNICATE: 'x' }, 'SLUICE_FROBNICATE sets nothing: no flag has this variable\n'],
  ])('an unknown variable gets a warning: %j', async (env, line) => {
    const ran = await run(['check', TEMPLATE], env as unknown as Record<string, string>)
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(`sluice: warning: ${Object.keys(env)[0]}`)])
    expect(ran.stderr).toContain(line)
  })

  it('variables of Kubernetes, of other verbs, and empty ones get none', async () => {
    const names = ['SLUICE', 'SLUICE_STORE', 'SLUICE_A_B'].flatMap((name) => OF_KUBERNETES.map((end) => `${name}_${end}`))
    const env = Object.fromEntries([...names.map((name) => [name, 'tcp://10.0.0.1:8080']), ['SLUICE_X', ''], ['SLUICE_WORKERS', 'x']])
    expect(await run(['check', TEMPLATE], env)).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('O5: what is used', () => {
  it('is the flag, else its variable, else PORT, else the default', async () => {
    const service = await serve(['--demo'], { SLUICE_LISTEN: '127.0.0.2:0', PORT: 'x' })
    expect(service.url).toContain('127.0.0.2:')
    await service.stop()
    const other = await serve(['--demo', '--listen', '127.0.0.3:0'], { SLUICE_LISTEN: '127.0.0.2:0' })
    expect(other.url).toContain('127.0.0.3:')
    await other.stop()
  })

  it('a store comes from the flag of either kind, then from the variable of either kind, then from the policy', async () => {
    const [file, policy] = [join(folder, 'store'), join(folder, 'policy.yaml')]
    writeFileSync(file, 'redis://of-file\n')
    writeFileSync(policy, 'version: 1\nstore: redis://of-policy\nrules: [{ name: a, key: [], rate: 1/s, burst: 1 }]\n')
    const storeOf = async (flags: string[], env: Record<string, string>): Promise<unknown> =>
      (JSON.parse((await run(['check', policy, '--json', ...flags], env)).stdout) as { store: unknown }).store
    const variable = { SLUICE_STORE: 'redis://of-variable' }
    expect(await storeOf(['--store', 'redis://of-flag'], { SLUICE_STORE_FILE: file })).toBe('redis://of-flag')
    expect(await storeOf(['--store-file', file], variable)).toBe('redis://of-file')
    expect(await storeOf([], variable)).toBe('redis://of-variable')
    expect(await storeOf([], { SLUICE_STORE_FILE: file })).toBe('redis://of-file')
    expect(await storeOf([], {})).toBe('redis://of-policy')
    const both = await run(['check', policy], { ...variable, SLUICE_STORE_FILE: file })
    expect([both.code, both.stderr]).toEqual([3, expect.stringMatching(/SLUICE_STORE and SLUICE_STORE_FILE exclude each other/)])
    const twice = await run(['check', policy, '--store', 'memory:', '--store-file', file])
    expect([twice.code, twice.stderr]).toEqual([3, expect.stringMatching(/--store and --store-file exclude each other/)])
  })

  it('a flag that names the service or the store outweighs the variables of the other', async () => {
    const env = { SLUICE_STORE: 'redis://127.0.0.1:1', SLUICE_POLICY: TEMPLATE, SLUICE_TOKEN_FILE: 'no-such-file' }
    const service = await run(['inspect', 'a', '--url', 'http://127.0.0.1:1'], { SLUICE_STORE: 'redis://h', SLUICE_POLICY: TEMPLATE })
    expect([service.code, service.stderr]).toEqual([2, expect.stringContaining('service http://127.0.0.1:1 cannot be reached')])
    const store = await run(['inspect', 'a'], env)
    expect([store.code, store.stderr]).toEqual([2, expect.stringContaining('store redis://127.0.0.1:1 cannot be reached')])
    const ofFlag = await run(['inspect', 'a', '--store', 'redis://127.0.0.1:1'], { ...env, SLUICE_URL: 'http://h' })
    expect([ofFlag.code, ofFlag.stderr]).toEqual([2, expect.stringContaining('store redis://127.0.0.1:1 cannot be reached')])
    const both = await run(['inspect', 'a'], { ...env, SLUICE_URL: 'http://h' })
    expect([both.code, both.stderr]).toEqual([3, expect.stringContaining('SLUICE_STORE and SLUICE_URL exclude each other')])
  })

  it.each([
    ['', 'expected one line with the URL of a store'],
    ['redis://h\nredis://u:secret@h', 'expected one line with the URL of a store'],
    ['mysql://u:secret@h', 'store mysql://***@h: unknown kind'],
  ])('a file of a store with %j is refused, without its password', async (text, line) => {
    const file = join(folder, 'wrong')
    writeFileSync(file, text)
    chmodSync(file, 0o600)
    const ran = await run(['verify', '--store-file', file])
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(line)])
    expect(ran.stderr).not.toContain('secret')
  })

  it('the names of variables come from the flags alone', () => {
    expect(['store', 'admin-token-file'].map(variableOf)).toEqual(['SLUICE_STORE', 'SLUICE_ADMIN_TOKEN_FILE'])
  })
})
