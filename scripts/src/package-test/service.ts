import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../engines/index.ts'
import { fencesOf } from '../fences/fence.ts'
import { expectSame, type Step } from './step.ts'

const README = 'packages/server/README.md'

export const serviceSteps: readonly Step[] = [
  {
    name: 'npm install of both packages in an empty folder',
    async run({ place, library, server }) {
      place.write('both/package.json', '{"private":true}')
      await place.run('npm', ['install', '--no-audit', library.tarball, server.tarball], 'both')
      const { version } = server.manifest
      expectSame('sluice --version', await place.run('npx', ['--no-install', 'sluice', '--version'], 'both'), `sluice ${version}\n`)
    },
  },
  {
    name: 'the help of an error is a file of the installed library',
    async run({ place }) {
      const code = `import('sluice').then(({ tokenBucket }) => tokenBucket({ rate: 'x', burst: 1 })).catch(({ help }) => console.log(help))`
      const [file = '', heading = ''] = (await place.run(process.execPath, ['-e', code], 'both')).trim().split('#')
      const page = readFileSync(join(place.root, 'both/node_modules', file), 'utf8').toLowerCase()
      if (heading === '' || !page.includes(`# ${heading}\n`)) throw new Error(`${file} has no heading ${heading}`)
    },
  },
  {
    name: 'npx sluice-server serve policy.yaml in an empty folder, and a refused call',
    async run({ root, place }) {
      const { fences } = fencesOf(readFileSync(join(root, README), 'utf8'))
      const policy = fences.find(({ file }) => file === 'policy.yaml')?.text
      const calls = fences.find(({ language }) => language === 'console')?.text.split('\n') ?? []
      const [serve, ...requests] = calls.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
      if (policy === undefined || !serve?.endsWith(' &')) throw new Error(`${README} shows no policy.yaml, or no line that serves it`)
      place.write('service/policy.yaml', policy)
      const port = String(await freePort())
      const [command = '', ...args] = serve.replace(/ &$/, '').split(' ')
      // npx caches what it installs by the package's name alone, so the cache of an earlier run has an earlier package. This run gets a
      // cache of its own.
      const ended = place.start(command, args, 'service', { PORT: port, npm_config_cache: join(place.root, 'npx-cache') })
      await Promise.race([ended, answers(`http://127.0.0.1:${port}/readyz`)])
      const script = requests.map((line) => line.replaceAll(':8080/', `:${port}/`)).join('\n')
      const printed = await place.run('bash', ['-ec', script], 'service')
      if (!printed.startsWith('HTTP/1.1 429 ')) throw new Error(`the last call of ${README} printed\n${printed}`)
    },
  },
  {
    name: 'sluice verify of the installed command',
    async run({ place }) {
      const args = ['--no-install', 'sluice', 'verify', '--store', 'pglite:verified', '--seconds', '1', '--callers', '4', '--json']
      expectSame('ok', (JSON.parse(await place.run('npx', args, 'both')) as { ok?: boolean }).ok, true)
    },
  },
  {
    name: 'the installed service with the settings of deploy/Dockerfile',
    async run({ root, place }) {
      const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
      const set = new Map([...dockerfile.matchAll(/\b(SLUICE_\w+|NODE_ENV)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]))
      const [, program = ''] = /ENTRYPOINT \["node", "\/app\/([^"]+)"\]/.exec(dockerfile) ?? []
      const port = String(await freePort())
      place.write('both/admin-token', 'a-token-of-this-test\n')
      set.set('SLUICE_LISTEN', (set.get('SLUICE_LISTEN') ?? '').replace(/\d+$/, port))
      set.set('SLUICE_POLICY', join(root, 'deploy/policy/policy.yaml'))
      set.set('SLUICE_ADMIN_TOKEN_FILE', join(place.root, 'both/admin-token'))
      const ended = place.start(process.execPath, [program, 'serve'], 'both', Object.fromEntries(set))
      await Promise.race([ended, answers(`http://127.0.0.1:${port}/livez`)])
      const body = JSON.stringify({ path: '/', ip: '203.0.113.9' })
      const decided = await fetch(`http://127.0.0.1:${port}/v1/check`, { method: 'POST', body })
      expectSame('the first decision', ((await decided.json()) as { outcome?: string }).outcome, 'allowed')
    },
  },
]

/** Waits until the address answers: npx first installs the service. */
async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${url} did not answer`)
}
