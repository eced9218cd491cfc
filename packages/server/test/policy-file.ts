import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Returns a function that writes a policy into a folder of this test file. The folder is removed after the tests of the file. */
export function policyFiles(): (text: string) => string {
  // The folder is made with the first policy. If all suites of a file are skipped, nothing runs after them that could remove a folder.
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
