import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const MAIN: string = join(import.meta.dirname, '..', 'dist', 'main.js')

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the built command; `npm test` builds before it tests. */
export function bench(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
    // A test that ran out of time leaves no run behind; one that has ended receives nothing.
    onTestFinished(() => void child.kill())
  })
}

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}
