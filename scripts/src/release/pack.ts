import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Owner } from './owner.ts'
import { stage, type Staged } from './stage.ts'

/** A package as it is published. */
export interface Packed extends Staged {
  readonly tarball: string
  readonly files: readonly string[]
  /** Bytes of the tarball, and of its files. */
  readonly size: number
  readonly unpackedSize: number
  /** The digest that npm shows for the tarball. The same sources give the same digest. */
  readonly integrity: string
}

/** Writes the folder and the tarball of each package into the folder `to`. */
export function pack(root: string, to: string, owner: Owner): Packed[] {
  return stage(root, to, owner).map((staged) => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', to]
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: staged.folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`npm pack of ${staged.manifest.name} failed:\n${stderr}`)
    const [report] = JSON.parse(stdout) as [
      { filename: string; files: { path: string }[]; size: number; unpackedSize: number; integrity: string },
    ]
    const { filename, files, size, unpackedSize, integrity } = report
    return { ...staged, tarball: join(to, filename), files: files.map(({ path }) => path), size, unpackedSize, integrity }
  })
}
