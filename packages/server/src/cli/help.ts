import type { Verb } from './verb.ts'

const EXITS = 'exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage\n'

/** What `sluice --help` prints: every verb in one line. */
export function overview(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map(({ name }) => name.length))
  const lines = verbs.map(({ name, does }) => `  ${name.padEnd(width)}  ${does}`)
  return `usage: sluice VERB [ARGUMENTS]\n\n${lines.join('\n')}\n\n"sluice VERB --help" tells more, "sluice --version" which version this is\n${EXITS}`
}

/** What `sluice VERB --help` prints. */
export function helpOf({ name, words, does, flags, examples }: Verb): string {
  const rows = Object.entries(flags).map(([flag, { value, does: what, repeat }]): [string, string] => [
    `--${flag}${value === undefined ? '' : ` ${value}`}`,
    repeat === true ? `${what}; may be repeated` : what,
  ])
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return [
    `usage: sluice ${name}${rows.length === 0 ? '' : ' [FLAGS]'} ${words.join(' ')}`.trimEnd(),
    '',
    does,
    '',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    ...(words.length === 0 ? [] : [`  ${'--'.padEnd(width)}  before a ${words[0]?.replaceAll(/[[\]]/g, '') ?? ''} that begins with -`]),
    '',
    'examples:',
    ...examples.map((example) => `  sluice ${example}`),
    '',
    EXITS,
  ].join('\n')
}
