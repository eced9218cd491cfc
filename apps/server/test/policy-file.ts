import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Writes policies into a folder of the test file's own, gone when it ends. */
export function policyFiles(): (text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-policy-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let written = 0
  return (text) => {
    written += 1
    const path = join(folder, `${written}.yaml`)
    writeFileSync(path, text)
    return path
  }
}
