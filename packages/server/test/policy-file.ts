import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Writes policies into a folder of the test file's own, gone when it ends. */
export function policyFiles(): (text: string) => string {
  // Made at the first policy: a file whose suites are all skipped runs nothing afterwards either.
  let folder: string | undefined
  afterAll(() => (folder === undefined ? undefined : rmSync(folder, { recursive: true, force: true })))
  let written = 0
  return (text) => {
    written += 1
    folder ??= mkdtempSync(join(tmpdir(), 'sluice-policy-'))
    const path = join(folder, `${written}.yaml`)
    writeFileSync(path, text)
    return path
  }
}
