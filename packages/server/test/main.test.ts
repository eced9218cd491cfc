import { spawnSync } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAIN, run, runBuilt, serveBuilt, SYSTEM } from './command.ts'
import { policyFiles } from './policy-file.ts'

const TEMPLATE = 'packages/server/policies/rate-limiting-at-scale.yaml'
const policyFile = policyFiles()
const VERBS = ['serve', 'check', 'explain', 'inspect', 'reset', 'block', 'unblock', 'regions', 'verify']

describe('sluice', () => {
  it('says its version and its verbs', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: expect.stringMatching(/^sluice \d+\.\d+\.\d+\n$/), stderr: '' })
    const [help, again] = await Promise.all([run(['--help']), run(['help'])])
    expect([help.code, help.stderr, help.stdout]).toEqual([0, '', again.stdout])
    expect(VERBS.filter((verb) => !new RegExp(`^ {2}${verb} `, 'm').test(help.stdout))).toEqual([])
    expect(help.stdout).toContain('exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage')
  })

  it.each(VERBS)('prints the help of %s, however it is requested', async (verb) => {
    const [flag, short, word] = await Promise.all([run([verb, '--help']), run([verb, 'x', '-h']), run(['help', verb])])
    expect(flag).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^usage: sluice ${verb}`)), stderr: '' })
    expect(flag.stdout).toContain(`examples:\n  sluice ${verb} `)
    expect([short, word]).toEqual([flag, flag])
  })

  it('reads what follows -- as words, also those that would be a flag of help', async () => {
    for (const word of ['-h', '--help']) {
      const ran = await run(['block', '--url', 'http://127.0.0.1:1', '--', word, '15m'])
      expect(ran).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('cannot be reached') })
    }
    expect(await run(['block', '-h', '--', '-h', '15m'])).toEqual(await run(['help', 'block']))
  })

  it.each([
    [['chek', 'a'], 'unknown command chek (did you mean check?); "sluice --help" lists them'],
    [['help', 'frobnicate'], 'unknown command frobnicate; "sluice --help" lists them'],
    [[], 'no command given; "sluice --help" lists them'],
    [['check'], 'check: POLICY is missing'],
    [['check', 'a', 'b'], 'check: unexpected "b"'],
    [['check', 'a', '--jsn'], 'check: unknown flag --jsn (did you mean --json?)'],
    [['check', 'a', '--frobnicate'], 'check: unknown flag --frobnicate;'],
    [['check', 'a', '--json=no'], 'check: --json takes no value'],
    [['serve', '--lisen', '127.0.0.1:0'], 'serve: unknown flag --lisen (did you mean --listen?)'],
    [['serve', '--demo', '--store'], 'serve: --store needs a value: --store URL'],
    [['serve', '--store', '--demo'], 'serve: --store needs a value: --store URL'],
    [['serve', '--store=', '--demo'], 'serve: --store needs a value: --store URL'],
    [['serve', '--store', 'memory:', '--store', 'memory:'], 'serve: --store is given twice'],
  ])('refuses %j in one line', async (args, line) => {
    const ran = await run(args)
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).toContain(`sluice: ${line}`)
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

/** These tests run the built command. Other tests of messages and exit codes run the command in their own process. */
describe('the built command', () => {
  const REQUEST = ['--path', '/api/search', '--ip', '203.0.113.9']

  it.each([
    [['--version'], 0, /^sluice \d+\.\d+\.\d+\n$/, /^$/],
    [['explain', TEMPLATE, ...REQUEST], 0, /^GET \/api\/search from 203\.0\.113\.9: /, /^$/],
    [['check', 'no-such-file.yaml'], 1, /^$/, /^sluice: [^\n]*no-such-file\.yaml cannot be read[^\n]*\n$/],
    [['inspect', 'a', '--url', 'http://127.0.0.1:1'], 2, /^$/, /^sluice: service http:\/\/127\.0\.0\.1:1 cannot be reached: [^\n]+\n$/],
    [[], 3, /^$/, /^sluice: no command given; [^\n]+\n$/],
  ])('%j ends with %i', async (args, code, stdout, stderr) => {
    expect(await runBuilt(args)).toEqual({ code, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) })
  })

  it.runIf(existsSync('/dev/full'))('ends with 1 if its output cannot be written', () => {
    for (const args of [['--help'], ['check', TEMPLATE, '--json']]) {
      const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
        env: SYSTEM,
        stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
        encoding: 'utf8',
      })
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^sluice: the output cannot be written: ENOSPC[^\n]*\n$/)])
    }
  })

  it.each([
    [['--help'], 0],
    [['check', policyFile('version: 2\n'), '--json'], 1],
  ])('%j ends with its own code if the reader of its output has left', (args, code) => {
    const { stderr } = spawnSync('bash', ['-c', '{ "$@" 2>&3; echo "ended $?" >&2; } | true', 'sh', process.execPath, MAIN, ...args], {
      env: SYSTEM,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    expect(stderr).toBe(`ended ${code}\n`)
  })

  it('serves on when the reader of its lines has ended', async () => {
    const service = await serveBuilt(['--demo', '--admin-token-file', policyFile('a-token-of-administration')])
    service.endReader()
    const headers = { authorization: 'Bearer a-token-of-administration' }
    // Each refusal is one line.
    for (let put = 0; put < 3; put += 1)
      expect((await fetch(`${service.url}/v1/policy`, { method: 'PUT', body: 'rules: 7', headers })).status).toBe(400)
    expect(await service.stop()).toBe(0)
  })
})
