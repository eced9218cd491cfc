import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runInThisContext } from 'node:vm'
import { build } from 'esbuild'
import type { CountersPrograms } from './counters-network.ts'
import type { Programs } from './site.ts'

/** A text of a source file in src/regions, and the text that a wrong program has in its place. */
export interface Replacement {
  readonly file:
    | 'rights/cell.ts'
    | 'rights/decide.ts'
    | 'rights/transfer.ts'
    | 'rights/era.ts'
    | 'rights/recovery.ts'
    | 'rights/roster.ts'
    | 'rights/undivided.ts'
    | 'counters/counters.ts'
    | 'counters/debt.ts'
    | 'counters/known.ts'
    | 'counters/peers.ts'
    | 'counters/spend.ts'
  readonly from: string
  readonly to: string
}

const SOURCES = join(import.meta.dirname, '..', '..', 'src', 'regions')

/**
 * Makes a wrong variant of the programs by replacing texts, to test that the audits notice it.
 * @throws Error if a text is not found exactly once, because then the sources have changed
 */
export async function variantOf(replacements: readonly Replacement[]): Promise<Programs> {
  return (await variant(join(SOURCES, 'rights', 'programs.ts'), replacements)) as Programs
}

/** The same for the programs of counters. */
export async function countersVariantOf(replacements: readonly Replacement[]): Promise<CountersPrograms> {
  return (await variant(join(import.meta.dirname, 'counters-programs.ts'), replacements)) as CountersPrograms
}

async function variant(entry: string, replacements: readonly Replacement[]): Promise<unknown> {
  const pending = new Set(replacements)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'variant',
    target: 'node20',
    plugins: [
      {
        name: 'variant',
        setup(load) {
          load.onLoad({ filter: /[\\/]regions[\\/].+\.ts$/ }, ({ path }) => {
            let contents = readFileSync(path, 'utf8')
            for (const replacement of replacements.filter(({ file }) => path === join(SOURCES, file))) {
              const parts = contents.split(replacement.from)
              if (parts.length !== 2) throw new Error(`${basename(path)}: ${parts.length - 1} times ${replacement.from}`)
              contents = parts.join(replacement.to)
              pending.delete(replacement)
            }
            return { contents, loader: 'ts' }
          })
        },
      },
    ],
  })
  if (pending.size > 0) throw new Error(`not replaced: ${[...pending].map(({ from }) => from).join(', ')}`)
  return runInThisContext(`${outputFiles[0]?.text}; variant`)
}
