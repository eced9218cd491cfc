import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..', '..')

/** Bundles a program in `packages/sluice/test/regions` with the library's sources, for plain Node. Returns the path of the bundle. */
export async function bundledProgram(file: string, name: string): Promise<string> {
  const outfile = join(ROOT, 'node_modules', '.cache', `${name}.mjs`)
  const entry = join(ROOT, 'packages', 'sluice', 'test', 'regions', file)
  const plain = { platform: 'node', format: 'esm', packages: 'external' } as const
  await build({ ...plain, entryPoints: [entry], outfile, bundle: true, conditions: ['sluice-source'] })
  return outfile
}
