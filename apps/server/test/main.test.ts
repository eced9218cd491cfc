import { describe, expect, it } from 'vitest'
import { run } from './command.ts'

const VERBS = ['serve', 'check', 'explain', 'inspect', 'reset', 'block', 'unblock', 'verify']

describe('sluice', () => {
  it('says its version and its verbs', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: expect.stringMatching(/^sluice \d+\.\d+\.\d+\n$/), stderr: '' })
    const [help, again] = await Promise.all([run(['--help']), run(['help'])])
    expect([help.code, help.stderr, help.stdout]).toEqual([0, '', again.stdout])
    expect(VERBS.filter((verb) => !new RegExp(`^ {2}${verb} `, 'm').test(help.stdout))).toEqual([])
    expect(help.stdout).toContain('exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage')
  })

  it.each(VERBS)('says what %s takes, however it is asked', async (verb) => {
    const [flag, short, word] = await Promise.all([run([verb, '--help']), run([verb, 'x', '-h']), run(['help', verb])])
    expect(flag).toEqual({ code: 0, stdout: expect.stringMatching(new RegExp(`^usage: sluice ${verb}`)), stderr: '' })
    expect(flag.stdout).toContain(`examples:\n  sluice ${verb} `)
    expect([short, word]).toEqual([flag, flag])
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
