import { connect } from 'node:net'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { APP, subpathsOf } from './application.ts'
import { runAsTyped } from './as-typed.ts'
import type { Program } from './programs.ts'
import { type Context, expectSame, Skip, type Step } from './step.ts'

/** A program that runs JavaScript. */
interface Runtime {
  readonly name: string
  /** The runtime's package on npm, with a version; undefined for the Node that runs this program. */
  readonly from?: string
  /** The executable in the installed package, and the arguments before a program. */
  readonly command: readonly [file: string, ...args: string[]]
}

const present = Number(process.versions.node.split('.')[0])
export const RUNTIMES: readonly Runtime[] = [
  { name: `node${present}`, command: [process.execPath] },
  ...[20, 22, 24]
    .filter((major) => major !== present)
    .map((major): Runtime => ({ name: `node${major}`, from: `node@${major}`, command: ['node_modules/node/bin/node'] })),
  { name: 'deno', from: 'deno', command: ['node_modules/.bin/deno', 'run', '--allow-all', '--no-lock'] },
  { name: 'bun', from: 'bun', command: ['node_modules/.bin/bun', 'run'] },
]

/** Loads every subpath with import and with require, and compares the names. Prints how many there are. */
const LOAD = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const paths = PATHS
for (const path of paths) {
  const [imported, required] = [Object.keys(await import(path)), Object.keys(require(path))]
  const known = required.filter((name) => name !== '__esModule' && name !== 'default' && name !== 'module.exports')
  if (imported.sort().join() !== known.sort().join()) throw new Error(path + ': ' + imported + ' is not ' + known)
}
console.log(paths.length)
`

export const runtimeSteps: readonly Step[] = RUNTIMES.flatMap((runtime): Step[] => {
  const { name } = runtime
  let command: readonly string[] | undefined
  const ready = async (context: Context): Promise<readonly string[]> => (command ??= await install(context, runtime))
  return [
    {
      name: `import and require of every subpath on ${name}`,
      async run(context) {
        const [file, ...args] = (await ready(context)) as [string, ...string[]]
        const paths = subpathsOf(context.library)
        context.place.write(`${APP}/load.mjs`, LOAD.replace('PATHS', JSON.stringify(paths)))
        const printed = await context.place.run(file, [...args, 'load.mjs'], APP)
        expectSame('subpaths', printed.trim().split('\n').at(-1), String(paths.length))
      },
    },
    {
      name: `README's programs on ${name}`,
      async run(context) {
        const all = await ready(context)
        if (context.programs.length === 0) throw new Error('README shows no program')
        for (const program of context.programs) if (program.runs) await runProgram(context, all, program)
      },
    },
  ]
})

/** Installs a runtime into a folder of its own. @throws Skip if npm cannot */
async function install({ place }: Context, { name, from, command }: Runtime): Promise<readonly string[]> {
  const [file, ...args] = command
  if (from === undefined) return command
  const folder = `runtimes/${name}`
  place.write(`${folder}/package.json`, '{"private":true}')
  try {
    await place.run('npm', ['install', '--no-audit', from], folder)
    const found = [join(place.root, folder, file), ...args]
    if (!existsSync(found[0] as string)) throw new Error(`${from} has no ${file}`)
    await place.run(found[0] as string, ['--version'], folder)
    return found
  } catch (error) {
    throw new Skip(name, (error as Error).message.split('\n').slice(0, 2).join(' '))
  }
}

async function runProgram({ place, urls }: Context, command: readonly string[], program: Program): Promise<void> {
  const missing = program.needs.find((engine) => !urls.has(engine))
  if (missing !== undefined) throw new Skip(missing, `${program.name} needs it`)
  const redis = program.needs.includes('redis') ? urls.get('redis') : undefined
  const before = redis === undefined ? 0 : await scriptsRun(redis)
  await runAsTyped(place, command, program, urls)
  if (redis !== undefined && (await scriptsRun(redis)) === before) throw new Error(`${program.name} decided nothing in Redis`)
}

/** The number of scripts that a Redis server has run. */
async function scriptsRun(url: string): Promise<number> {
  const { hostname, port } = new URL(url)
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write('INFO commandstats\r\nQUIT\r\n'))
    let reply = ''
    socket
      .on('data', (data) => (reply += data.toString()))
      .on('error', reject)
      .on('close', () => resolve(reply))
  })
  return [...text.matchAll(/cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
