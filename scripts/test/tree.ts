import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a folder with these files, given by relative path. The folder is removed when the test is over. */
export function tree(files: Readonly<Record<string, string>>): string {
  const root = plant(files)
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** The same, for who removes it. */
export function plant(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'sluice-tree-'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}
