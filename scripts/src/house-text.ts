import { join } from 'node:path'
import { type Finding, findingOf } from './finding.ts'
import { filesBelow, textOf } from './source-files.ts'

interface Rule {
  readonly files: RegExp
  readonly pattern: RegExp
  readonly why: string
}

const RULES: readonly Rule[] = [
  { files: /./, pattern: /(?<![\w.])\/(?:work|root|home)\//, why: 'a path of one machine' },
  { files: /./, pattern: /https?:\/\/[\w.-]*\b(?:registry|artifactory|nexus)\b|^\s*registry\s*=/, why: 'a registry host' },
  {
    files: /(?:^|\/)package-lock\.json$/,
    pattern: /"resolved": "https?:/,
    why: 'a registry host: install with the .npmrc of this repository',
  },
]

const README_LINES = 150

/** Checks each line of the repository against texts that no file may contain, and the length of READMEs. */
export function checkTexts(root: string): Finding {
  const problems = filesBelow(root).flatMap((file) => {
    const rules = RULES.filter((rule) => rule.files.test(file))
    const lines = (textOf(join(root, file)) ?? '').split('\n')
    const found = lines.flatMap((line, index) =>
      rules.filter(({ pattern }) => pattern.test(line)).map(({ why }) => `${file}:${index + 1}: ${why}`),
    )
    const long = /(?:^|\/)README\.md$/.test(file) && lines.length - 1 > README_LINES
    return long ? [...found, `${file}: ${lines.length - 1} lines, at most ${README_LINES}`] : found
  })
  return findingOf(problems)
}
