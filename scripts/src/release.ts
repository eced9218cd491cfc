import { mkdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { problemsOf } from './release/contents.ts'
import { publint, typesLint } from './release/lint.ts'
import { accountOf, missingOf, readOwner } from './release/owner.ts'
import { pack } from './release/pack.ts'
import { publishAll } from './release/publish.ts'
import { changelogOf, changesOf, isTagged, versionOf } from './release/state.ts'

/**
 * `npm run release`: packs both packages, checks the tarballs, and publishes them. With `--dry-run` it publishes nothing, and lists what
 * is still missing. Without `--dry-run` it refuses to publish while anything is missing. Exit codes: 0 ok, 1 failed or refused, 3 usage.
 */
const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT, '.release')

function main(args: readonly string[]): number {
  const wrong = args.find((argument) => argument !== '--dry-run')
  if (wrong !== undefined) return said(3, `unexpected ${wrong}: the only argument is --dry-run`)
  const dry = args.length > 0
  const owner = readOwner(ROOT)
  const { version, problems: versions } = versionOf(ROOT)
  const changelog = changelogOf(ROOT, version)
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const packages = pack(ROOT, FOLDER, owner)
  for (const { tarball, files, size, unpackedSize, integrity } of packages) {
    const sizes = `${Math.ceil(size / 1_000)} kB, unpacked ${Math.ceil(unpackedSize / 1_000)} kB`
    console.log(`${relative(ROOT, tarball)}  ${files.length} files, ${sizes}\n  ${integrity}`)
  }
  const problems = [
    ...changesOf(ROOT).map((change) => `not committed: ${change}`),
    ...versions,
    ...(changelog === 'missing' ? [`CHANGELOG.md: the first heading is neither "## ${version} - DATE" nor "## Unreleased"`] : []),
    ...packages.flatMap((one) => problemsOf(one, one.files)),
    ...packages.flatMap((one) => [...publint(ROOT, one), ...typesLint(ROOT, one)]),
  ]
  const missing = [
    ...missingOf(owner),
    ...accountOf(owner, process.env),
    ...(changelog === 'unreleased' ? [`CHANGELOG.md: the heading "## Unreleased" becomes "## ${version} - DATE" at the release`] : []),
    ...(isTagged(ROOT, version) ? [] : [`the commit has no tag v${version}`]),
  ]
  for (const problem of problems) console.error(`FAIL ${problem}`)
  if (missing.length > 0) console.log(`still missing for a release of ${version}:\n${missing.map((line) => `- ${line}`).join('\n')}`)
  if (problems.length > 0) return said(1, `${problems.length} problems: nothing was published`)
  if (dry) return said(0, `dry run: both packages of ${version} are well; nothing was published`)
  if (missing.length > 0) return said(1, `refused: ${missing.length} things are missing, nothing was published`)
  const { code, line } = publishAll(packages, owner.publisher, process.env)
  return said(code, line)
}

function said(code: number, line: string): number {
  console.log(line)
  return code
}

process.exitCode = main(process.argv.slice(2))
