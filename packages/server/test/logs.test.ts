import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../src/logs/logger.ts'
import { failureLines } from '../src/logs/repeated-lines.ts'
import { run, serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const POLICY = 'version: 1\nrules:\n  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 2 }\n'
const ADMIN_TOKEN = 'a-token-of-administration'

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('a log', () => {
  const written = (
    format: 'json' | 'text',
    level: 'error' | 'warn' | 'info' | 'debug',
  ): [log: ReturnType<typeof createLog>, text: () => string] => {
    let all = ''
    return [createLog({ format, level }, (text) => (all += text)), () => all]
  }

  it('writes JSON with the time, the level, the event and the facts', () => {
    const [log, text] = written('json', 'info')
    log('warn', 'store-setting', 'store x is slow', { store: 'x' })
    expect(linesOf(text())).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        event: 'store-setting',
        store: 'x',
        msg: 'store x is slow',
      },
    ])
  })

  it('writes a sentence for a person, in one line without control characters, and a stack below it', () => {
    const [log, text] = written('text', 'info')
    log('info', 'policy-warning', 'a\nb\u001b[31m')
    log('error', 'request-failed', 'it failed', { stack: 'Error: it\n    at x' })
    expect(text().replaceAll(/^\S+Z /gm, '')).toBe('info  a b [31m\nerror it failed\n  Error: it\n      at x\n')
  })

  it.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('of level %s writes %j', (level, expected) => {
    const [log, text] = written('json', level)
    for (const one of ['error', 'warn', 'info', 'debug'] as const) log(one, 'serving', one)
    expect(linesOf(text()).map(({ msg }) => msg)).toEqual(expected)
  })

  it('writes at most one unexpected error a second, and counts the others', () => {
    const lines: string[] = []
    const failed = failureLines((_level, _event, message) => lines.push(message))
    for (let nth = 0; nth < 1_000; nth += 1) failed(new Error('odd'))
    expect(lines).toEqual(['a request failed unexpectedly and got 500: odd'])
  })
})

describe('O2: the lines of a service', () => {
  const started = async (...args: string[]) => {
    const service = await serveBuilt([...args, '--log-format', 'json'])
    onTestFinished(async () => void (await service.stop()))
    return service
  }
  const events = (output: string): unknown[] => linesOf(output).map(({ event }) => event)

  it('say in JSON that it serves, that a policy was taken or refused, that it drains and stopped; none is written for a call', async () => {
    const token = policyFile(ADMIN_TOKEN)
    const service = await started(policyFile(POLICY), '--admin-token-file', token)
    const put = async (body: string): Promise<number> =>
      (await fetch(`${service.url}/v1/policy`, { method: 'PUT', body, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })).status
    expect(events(service.output())).toEqual(['serving'])
    for (let nth = 0; nth < 5; nth += 1)
      await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"key":"somebody","limit":"user"}' })
    await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"key":' })
    expect([await put(POLICY.replace('burst: 2', 'burst: 3')), await put('version: 2')]).toEqual([200, 400])
    expect(await service.stop()).toBe(0)
    const lines = linesOf(service.output())
    expect(lines.map(({ event }) => event)).toEqual(['serving', 'policy-taken', 'policy-refused', 'draining', 'stopped'])
    expect(lines[0]).toMatchObject({
      level: 'info',
      address: service.url,
      store: 'memory:',
      rules: 1,
      workers: 1,
      hash: expect.any(String),
    })
    expect(lines[1]).toMatchObject({ level: 'info', source: 'PUT /v1/policy', rules: 1, hash: expect.any(String) })
    expect(lines[2]).toMatchObject({ level: 'warn', reason: expect.stringContaining('rules is missing') })
    expect(lines[3]).toMatchObject({ signal: 'SIGTERM' })
    expect(service.output()).not.toMatch(/somebody|127\.0\.0\.1(?!:\d+")(?!:\d+;)/)
  })

  it('are written to stderr; stdout stays empty', async () => {
    const ran = await run(['serve', policyFile(POLICY), '--log-level', 'loud'], { PORT: '0' })
    expect(ran).toEqual({ code: 3, stdout: '', stderr: 'sluice: --log-level is "loud": expected one of error, warn, info, debug\n' })
  })
})
