import { createHash } from 'node:crypto'

/** A migration as migrations.json records it. One without a hash is new: its text is recorded when programs are generated. */
export interface RecordedMigration {
  readonly name: string
  readonly sha256?: string
}

/** A migration as it is embedded in programs.gen.ts. */
export interface MigrationText {
  readonly name: string
  readonly sha256: string
  readonly source: string
}

/**
 * The migrations with the hashes of their texts, and the names of those that differ from the record. A database that already has such a
 * migration would not get the change.
 */
export function compareTexts(
  recorded: readonly RecordedMigration[],
  sourceOf: (name: string) => string,
): { readonly texts: readonly MigrationText[]; readonly changed: readonly string[] } {
  const texts = recorded.map(({ name }) => {
    const source = sourceOf(name)
    return { name, sha256: createHash('sha256').update(source).digest('hex'), source }
  })
  const changed = recorded.filter(({ sha256 }, index) => sha256 !== undefined && sha256 !== texts[index]?.sha256)
  return { texts, changed: changed.map(({ name }) => name) }
}

/** The text of migrations.json. */
export function recordOf(texts: readonly MigrationText[]): string {
  return `[\n${texts.map(({ name, sha256 }) => `  { "name": "${name}", "sha256": "${sha256}" }`).join(',\n')}\n]\n`
}
