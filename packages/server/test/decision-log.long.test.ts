import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DecisionEvent } from 'sluice/observe'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { collectLines, openDecisionLog } from '../src/logs/decision-log.ts'
import { openTarget } from '../src/logs/decision-log-target.ts'
import { MAIN, run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const folder = mkdtempSync(join(tmpdir(), 'sluice-decisions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
const POLICY =
  'version: 1\nrules:\n  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 2 }\n  - { name: all, key: [], rate: 100/h, burst: 1000 }\n  - { name: trial, key: [], rate: 1/h, burst: 1, mode: shadow }\n'

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** The number of descriptors that this process has of a file. */
function descriptorsOf(file: string): number {
  const linked = (descriptor: string): string | undefined => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return undefined
    }
  }
  return readdirSync('/proc/self/fd').filter((descriptor) => linked(descriptor) === file).length
}

async function check(url: string, times: number): Promise<void> {
  const body = JSON.stringify({ path: '/secret/path', ip: '203.0.113.9', headers: { 'x-user': 'somebody' } })
  for (let nth = 0; nth < times; nth += 1) await (await fetch(`${url}/v1/check`, { method: 'POST', body })).text()
}

describe('a decision log', () => {
  it('has a line for each decision: rule, outcome, remaining and source, and no identity', async () => {
    const service = await serve([policyFile(POLICY), '--decision-log', at('all'), '--decision-log-sample', '1'])
    await check(service.url, 3)
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^sluice_decision_log_dropped_total 0$/m)
    expect(await service.stop()).toBe(0)
    const text = readFileSync(at('all'), 'utf8')
    const [line, source] = [{ time: expect.stringMatching(/^\d{4}-.*Z$/), sample: 1 }, 'store']
    expect(linesOf(text)).toEqual([
      { ...line, rule: 'user', outcome: 'allowed', allowed: true, remaining: 1, limit: 2, source },
      { ...line, rule: 'user', outcome: 'allowed', allowed: true, remaining: 0, limit: 2, shadowDenied: 'trial', source },
      expect.objectContaining({ rule: 'user', outcome: 'denied', allowed: false, reason: 'quota', retryAfterMs: expect.any(Number) }),
    ])
    expect(text).not.toMatch(/somebody|203\.0\.113\.9|secret/)
  })

  it('is opened again at SIGHUP, so that a renamed file is left', async () => {
    const service = await serve([policyFile(POLICY), '--decision-log', at('old'), '--decision-log-sample', '1'])
    await check(service.url, 1)
    await expect.poll(() => linesOf(readFileSync(at('old'), 'utf8')).length).toBe(1)
    renameSync(at('old'), at('old.1'))
    service.signal('SIGHUP')
    await expect
      .poll(async () => {
        await check(service.url, 1)
        return execFileSync('sh', ['-c', `cat ${at('old')} 2>/dev/null || true`], { encoding: 'utf8' })
      })
      .not.toBe('')
    expect(await service.stop()).toBe(0)
  })

  it.runIf(process.platform === 'linux')('keeps one descriptor after several SIGHUPs at once, and none after its end', async () => {
    const target = await openTarget(at('twice'))
    await Promise.all([target.reopen(), target.reopen(), target.reopen()])
    expect(descriptorsOf(at('twice'))).toBe(1)
    await target.write('a\n')
    const reopened = target.reopen()
    await target.close()
    await reopened
    expect([descriptorsOf(at('twice')), readFileSync(at('twice'), 'utf8')]).toEqual([0, 'a\n'])
  })

  it('goes on in the old file where it cannot be opened again, and opens it at the next SIGHUP', async () => {
    const within = join(mkdtempSync(at('moved-')), 'log')
    const target = await openTarget(within)
    renameSync(dirname(within), at('away'))
    await expect(target.reopen()).rejects.toThrow('cannot be written: ENOENT')
    await target.write('old\n')
    renameSync(at('away'), dirname(within))
    renameSync(within, `${within}.1`)
    await target.reopen()
    await target.write('new\n')
    await target.close()
    expect([readFileSync(`${within}.1`, 'utf8'), readFileSync(within, 'utf8')]).toEqual(['old\n', 'new\n'])
  })

  it('has no line that is joined to one that a full disk has cut off, in this process or another', async () => {
    writeFileSync(at('torn'), '{"a":')
    const [one, other] = [await openTarget(at('torn')), await openTarget(at('torn'))]
    await one.write('{"b":2}\n')
    appendFileSync(at('torn'), '{"c"')
    await other.write('{"d":4}\n')
    await other.write('{"e":5}\n')
    appendFileSync(at('torn'), '{')
    await one.reopen()
    await one.write('{"f":6}\n')
    await Promise.all([one.close(), other.close()])
    expect(readFileSync(at('torn'), 'utf8')).toBe('{"a":\n{"b":2}\n{"c"\n{"d":4}\n{"e":5}\n{\n{"f":6}\n')
  })

  it('loses nothing that is written while it is opened again', async () => {
    const target = await openTarget(at('rotated'))
    for (let nth = 0; nth < 50; nth += 1) {
      const done = [target.reopen(), target.write(`${nth}\n`), target.reopen()]
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([...done, target.reopen(), target.write('more\n')])
    }
    await target.close()
    expect(readFileSync(at('rotated'), 'utf8')).toBe(Array.from({ length: 50 }, (_, nth) => `${nth}\nmore\n`).join(''))
  })

  it('writes one decision in N, drawn at random', async () => {
    const log = await openDecisionLog({ target: at('sampled'), sample: 10 }, () => {})
    const event = { limiter: 'x', store: 'memory', decision: { outcome: 'allowed', limits: [] }, results: [], durationMs: 1 }
    for (let nth = 0; nth < 10_000; nth += 1) log.observers[0]?.onDecision?.(event as unknown as DecisionEvent)
    await log.close()
    const lines = linesOf(readFileSync(at('sampled'), 'utf8'))
    // Nine standard deviations on either side.
    expect(Math.abs(lines.length - 1_000)).toBeLessThan(270)
    expect(lines[0]).toMatchObject({ sample: 10 })
  })

  it.each([
    [['--decision-log-sample', '5'], 3, 'sluice: serve: --decision-log-sample needs --decision-log FILE\n'],
    [
      ['--decision-log', '/dev/null'],
      3,
      'sluice: decision log /dev/null is a device or a socket; expected a regular file, a new one, or - for stdout\n',
    ],
    [['--decision-log', '/'], 3, 'sluice: decision log / is a folder; expected a regular file, a new one, or - for stdout\n'],
    [['--decision-log', '/no/such/folder'], 1, 'sluice: decision log /no/such/folder cannot be written: ENOENT\n'],
    [
      ['--decision-log', at('x'), '--decision-log-sample', '0'],
      3,
      'sluice: --decision-log-sample is "0": expected a whole number from 1 to 1000000\n',
    ],
  ])('cannot be %j', async (flags, code, stderr) => {
    expect(await run(['serve', policyFile(POLICY), ...flags], { PORT: '0' })).toEqual({ code, stdout: '', stderr })
  })

  it('to stdout neither holds up nor ends the service where nobody reads, and it stops in time', async () => {
    const child = spawn(
      process.execPath,
      [MAIN, 'serve', policyFile(POLICY), '--log-format', 'text', '--decision-log', '-', '--decision-log-sample', '1'],
      {
        env: { ...process.env, PORT: '0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
    onTestFinished(() => void child.kill('SIGKILL'))
    let errors = ''
    const url = await new Promise<string>((resolve) =>
      child.stderr.on('data', (data: Buffer) => {
        errors += data.toString()
        const found = /on (http:\/\/\S+:\d+)/.exec(errors)?.[1]
        if (found !== undefined) resolve(found)
      }),
    )
    const many = JSON.stringify(Array.from({ length: 1_000 }, (_, nth) => ({ key: `k${nth}`, limit: 'user' })))
    for (let nth = 0; nth < 10; nth += 1) await (await fetch(`${url}/v1/checks`, { method: 'POST', body: many })).text()
    child.kill('SIGTERM')
    expect(await gone).toBe(0)
  })
})

describe('collected lines', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('are written together, one write at a time; what does not fit meanwhile is dropped and counted', async () => {
    const [written, ends, dropped]: [string[], (() => void)[], number[]] = [[], [], []]
    const write = (text: string): Promise<void> => {
      written.push(text)
      return new Promise((resolve) => ends.push(resolve))
    }
    const lines = collectLines(write, (count) => dropped.push(count))
    lines.add('a\n')
    lines.add('b\n')
    await vi.advanceTimersByTimeAsync(100)
    expect(written).toEqual(['a\nb\n'])
    const long = `${'x'.repeat(400_000)}\n`
    for (let nth = 0; nth < 3; nth += 1) lines.add(long)
    await vi.advanceTimersByTimeAsync(1_000)
    expect([written.length, dropped, lines.dropped, lines.written]).toEqual([1, [1], 1, 0])
    ends[0]?.()
    await vi.advanceTimersByTimeAsync(100)
    expect([written.length, written[1] === long.repeat(2), lines.written]).toEqual([2, true, 2])
    ends[1]?.()
    await lines.flush()
    expect(lines.written).toBe(4)
  })

  it('count as dropped where the write fails, and later ones are written', async () => {
    let fails = true
    const dropped: number[] = []
    const lines = collectLines(
      async () => (fails ? Promise.reject(new Error('full')) : undefined),
      (count) => dropped.push(count),
    )
    for (let nth = 0; nth < 7; nth += 1) lines.add('a\n')
    await lines.flush()
    fails = false
    lines.add('b\n')
    await lines.flush()
    expect([dropped, lines.dropped, lines.written]).toEqual([[7], 7, 1])
  })
})
