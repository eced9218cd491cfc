import { APP, subpathsOf } from './application.ts'
import { expectSame, type Step } from './step.ts'

/** A program for a worker: it decides in memory, by a policy, and for a Request. */
const WORKER = `import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'
import { createEngine, parsePolicy } from 'sluice/policy'

const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }) })
const policy = parsePolicy('version: 1\\nrules:\\n  - { name: a, key: [], rate: 1/h, burst: 1 }\\n')
const engine = createEngine({ policy, store: memoryStore() })
const guard = rateLimit({ limiter: createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }) }), key: () => 'k' })
const handler = guard.wrap(() => new Response('ok'))
const facts = { method: 'GET', path: '/', headers: {}, ip: '192.0.2.1' }
globalThis.result = (async () => [
  (await limiter.check('k')).outcome,
  (await limiter.check('k')).outcome,
  (await engine.decide(facts)).outcome,
  (await engine.decide(facts)).outcome,
  (await handler(new Request('https://example.org/'))).status,
  (await handler(new Request('https://example.org/'))).status,
])()
`

/** Runs the bundle with what every worker platform has, and nothing of Node. */
const RUN_WORKER = `import { build } from 'esbuild'
import vm from 'node:vm'
const { outputFiles, warnings } = await build({
  entryPoints: ['worker.mjs'], bundle: true, write: false, format: 'iife', platform: 'browser', target: 'es2022',
  conditions: ['worker', 'module'], minify: true, logLevel: 'silent',
})
if (warnings.length > 0) throw new Error(JSON.stringify(warnings))
const has = ['crypto', 'performance', 'setTimeout', 'clearTimeout', 'queueMicrotask', 'structuredClone', 'URL', 'URLSearchParams', 'Headers',
  'Request', 'Response', 'ReadableStream', 'WritableStream', 'TransformStream', 'TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal', 'Event', 'EventTarget', 'console']
const context = vm.createContext(Object.fromEntries(has.map((name) => [name, globalThis[name]])))
vm.runInContext(outputFiles[0].text, context)
console.log(JSON.stringify(await context.result))
`

/** Builds every subpath for the web and for Node, with the source maps of packages read. Prints the count of errors and warnings. */
const WEBPACK = `import webpack from 'webpack'
const use = ['source-map-loader']
for (const target of ['web', 'node20']) {
  const stats = await new Promise((resolve, reject) => webpack({
    mode: 'production', target, entry: './all.mjs', output: { path: import.meta.dirname + '/webpack-' + target, filename: 'main.cjs' },
    module: { rules: [{ test: /[.]m?js$/, enforce: 'pre', use }] }, performance: { hints: false }, optimization: { minimize: false },
  }, (error, done) => error ? reject(error) : resolve(done)))
  const { errors, warnings } = stats.toJson()
  for (const { message, moduleName } of [...errors, ...warnings].slice(0, 5)) console.log(moduleName + ': ' + message)
  console.log(target, errors.length, warnings.length)
}
`

export const bundlerSteps: readonly Step[] = [
  {
    name: 'esbuild for a worker without the modules of Node',
    async run({ place }) {
      place.write(`${APP}/worker.mjs`, WORKER)
      place.write(`${APP}/run-worker.mjs`, RUN_WORKER)
      const printed = await place.run(process.execPath, ['run-worker.mjs'], APP)
      expectSame('decisions in the worker', JSON.parse(printed), ['allowed', 'denied', 'allowed', 'denied', 200, 429])
    },
  },
  {
    name: 'webpack with source-map-loader',
    async run({ place, library }) {
      const all = subpathsOf(library, ['yaml'])
      const text = all.map((path, index) => `import * as m${index} from '${path}'\nconsole.log(Object.keys(m${index}).length)\n`).join('')
      place.write(`${APP}/all.mjs`, text)
      place.write(`${APP}/webpack.mjs`, WEBPACK)
      expectSame('errors and warnings of webpack', (await place.run(process.execPath, ['webpack.mjs'], APP)).trim().split('\n'), [
        'web 0 0',
        'node20 0 0',
      ])
      // What webpack wrote for Node runs by itself, so it contains everything.
      const printed = await place.run(process.execPath, ['main.cjs'], `${APP}/webpack-node20`)
      expectSame('subpaths in the bundle', printed.trim().split('\n').length, all.length)
    },
  },
]
