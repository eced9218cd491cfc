import { spawnSync } from 'node:child_process'
import type { Packed } from './pack.ts'

/** What an exit code means is in `release.ts`. */
interface Ended {
  readonly code: 0 | 1
  readonly line: string
}

type ToPublish = Pick<Packed, 'manifest' | 'tarball' | 'integrity'>

/**
 * Publishes the packages in their order, and stops at the first that cannot be published: the second needs the first. `env` is the
 * environment of npm.
 */
export function publishAll(packages: readonly ToPublish[], publisher: string, env: NodeJS.ProcessEnv): Ended {
  for (const one of packages) {
    const problem = problemOf(one, publisher, env)
    if (problem !== undefined) return { code: 1, line: problem }
  }
  return { code: 0, line: `published ${packages.map(nameOf).join(' and ')}` }
}

function nameOf({ manifest }: ToPublish): string {
  return `${manifest.name}@${manifest.version}`
}

/**
 * Publishes a package, and returns what went wrong. If the registry already has this version, from an interrupted run, and its contents
 * are equal, nothing is published.
 */
function problemOf(one: ToPublish, publisher: string, env: NodeJS.ProcessEnv): string | undefined {
  const { manifest, tarball, integrity } = one
  const name = nameOf(one)
  const there = spawnSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8', env }).stdout.trim()
  if (there === integrity) return undefined
  if (there !== '') return `${name} is already published, with other contents (${there})`
  // With trusted publishing npm attests the origin by itself. With a token it does so on request, and only in a workflow.
  const attested = publisher === 'token' && env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined
  const tag = manifest.version.includes('-') ? ['--tag', 'next'] : []
  const args = ['publish', tarball, ...tag, ...(attested ? ['--provenance'] : [])]
  const { status } = spawnSync('npm', args, { stdio: 'inherit', env: { ...env, ...tokenFor(publisher, env) } })
  return status === 0 ? undefined : `npm could not publish ${name}: mend it and run this again, what is published is left as it is`
}

/** The token as a setting of npm for its registry. As an argument of npm, other users of the machine could see it. */
function tokenFor(publisher: string, env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  if (publisher !== 'token') return {}
  const { host, pathname } = new URL(spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', env }).stdout.trim())
  return { [`npm_config_//${host}${pathname}:_authToken`]: env['NODE_AUTH_TOKEN'] ?? '' }
}
