import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-bootstrap-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A program that prints its process id and the signals that it gets. It ends some time after the first signal. */
const program = join(folder, 'program.mjs')
writeFileSync(
  program,
  `setInterval(() => {}, 1_000)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(signal, () => {
      console.log('got', signal)
      if (signal !== 'SIGHUP') setTimeout(() => process.exit(7), 600)
    })
  console.log('pid', process.pid)`,
)

/** Runs the program through the bootstrap, as npm does with `npm start`: in a shell that waits for it. */
async function started(shell: boolean): Promise<{ child: ChildProcess; pid: number; output: () => string }> {
  const path = relative(ROOT, program)
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  const options = { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] }
  const child = shell
    ? spawn('sh', ['-c', `"${process.execPath}" scripts/bootstrap.mjs "${path}"; exit $?`], options)
    : spawn(process.execPath, ['scripts/bootstrap.mjs', path], options)
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  await expect.poll(() => output, { timeout: 100_000 }).toMatch(/^pid \d+\n/)
  const pid = Number(/^pid (\d+)/.exec(output)?.[1])
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return { child, pid, output: () => output.replace(/^pid .*\n/, '') }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the bootstrap', { timeout: 120_000 }, () => {
  it("ends its program when npm's shell has ended without passing the signal on", async () => {
    const { child, pid, output } = await started(true)
    // It comes when the program has ended too, which writes to the same pipe: then all of its output is here.
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await expect.poll(() => isAlive(pid)).toBe(false)
    await closed
    expect(output()).toBe('got SIGTERM\n')
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('passes %s on once, waits for the program, and ends with its exit code', async (signal) => {
    const { child, output } = await started(false)
    child.kill('SIGHUP')
    await expect.poll(output).toBe('got SIGHUP\n')
    child.kill(signal)
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(7)
    expect(output()).toBe(`got SIGHUP\ngot ${signal}\n`)
  })
})
