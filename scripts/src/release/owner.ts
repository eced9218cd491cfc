import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `release.json`: what only the owner of the project can say. An empty field is not known yet. */
export interface Owner {
  readonly repository: string
  readonly homepage: string
  readonly bugs: string
  readonly publisher: string
}

const OWNER_FILE = 'release.json'
const ADDRESS = (value: string): boolean => /^https:\/\/[^\s/]+\/\S+$/.test(value) && !value.endsWith('.git')
/** Each field: what it is, and whether a value can be used. */
const FIELDS: Readonly<Record<keyof Owner, readonly [what: string, allows: (value: string) => boolean]>> = {
  repository: [
    'the address of the repository, as https://github.com/OWNER/NAME; npm compares its case with the one that publishes',
    ADDRESS,
  ],
  homepage: ['the address of the documentation, as https://...', (value) => /^https:\/\/\S+$/.test(value)],
  bugs: ['the address where issues are reported, as https://github.com/OWNER/NAME/issues', ADDRESS],
  publisher: [
    '"trusted-publishing" once npm trusts .github/workflows/release.yml of the repository for both packages, or "token"',
    (value) => value === 'trusted-publishing' || value === 'token',
  ],
}

/** Reads `release.json`. @throws Error if it cannot be read, or has other fields */
export function readOwner(root: string): Owner {
  const read = JSON.parse(readFileSync(join(root, OWNER_FILE), 'utf8')) as Record<string, unknown>
  const unknown = Object.keys(read).find((name) => !(name in FIELDS))
  if (unknown !== undefined) throw new Error(`${OWNER_FILE}: unknown field ${unknown}; known are ${Object.keys(FIELDS).join(', ')}`)
  const field = (name: keyof Owner): string => {
    const value = read[name] ?? ''
    if (typeof value !== 'string') throw new Error(`${OWNER_FILE}: ${name} is ${JSON.stringify(value)}, expected a text`)
    return value
  }
  return { repository: field('repository'), homepage: field('homepage'), bugs: field('bugs'), publisher: field('publisher') }
}

/** One line for each field that the owner has left empty, or filled in with a value that cannot be used. */
export function missingOf(owner: Owner): string[] {
  return (Object.keys(FIELDS) as (keyof Owner)[]).flatMap((name) => {
    const [what, allows] = FIELDS[name]
    if (allows(owner[name])) return []
    const found = owner[name] === '' ? 'is empty' : `is ${JSON.stringify(owner[name])}`
    return [`${OWNER_FILE}: ${name} ${found}: ${what}`]
  })
}

/** The problems of the account that publishes: a line if `env` lacks the variable that the owner's way of publishing needs. */
export function accountOf(owner: Owner, env: NodeJS.ProcessEnv): string[] {
  if (owner.publisher === 'trusted-publishing' && env['ACTIONS_ID_TOKEN_REQUEST_URL'] === undefined)
    return ['trusted publishing works only inside .github/workflows/release.yml: push the tag of the version']
  if (owner.publisher === 'token' && (env['NODE_AUTH_TOKEN'] ?? '') === '')
    return ['NODE_AUTH_TOKEN is not set: a token of npm that may publish both packages']
  return []
}
