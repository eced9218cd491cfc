import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLimiter } from '../src/create-limiter.ts'
import { tokenBucket } from '../src/index.ts'
import { ioredis, redisStore } from '../src/redis.ts'
import { Batcher } from '../src/stores/remote/batcher.ts'

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url))

/** The files of the library's functions that are running, outermost first. */
function running(): readonly string[] {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 100
  const lines = (new Error().stack ?? '').split('\n')
  Error.stackTraceLimit = limit
  return lines
    .flatMap((line) => /([^ (]+\.ts):\d+:\d+\)?$/.exec(line)?.[1] ?? [])
    .flatMap(inLibrary)
    .reverse()
}

function inLibrary(path: string): readonly string[] {
  const file = path.replace('file://', '')
  return file.startsWith(SOURCES) ? [file.slice(SOURCES.length)] : []
}

it('ARCHITECTURE.md shows the functions that a call passes on its way to the socket', async () => {
  const page = await readFile(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const shown = [...page.matchAll(/^\| \d+ \| `([\w/-]+\.ts)` \|/gm)].map(([, file]) => file)
  const { submit } = Batcher.prototype
  let way: readonly string[] = []
  const queued = vi.spyOn(Batcher.prototype, 'submit').mockImplementation(function (this: Batcher<never, never>, ...call) {
    way = [...running(), 'stores/remote/batcher.ts']
    return submit.apply(this, call)
  } as typeof submit)
  onTestFinished(() => queued.mockRestore())
  const client = {
    callBuffer: async () => null,
    evalBuffer: async () => null,
    evalshaBuffer: () => {
      way = [...way, ...running()]
      return Promise.reject(new Error('read ECONNRESET'))
    },
  }
  const limiter = createLimiter({
    name: 'a',
    limit: tokenBucket({ rate: '5/s', burst: 5 }),
    store: redisStore({ client: ioredis(client) }),
  })
  await limiter.check('user:42')
  expect(way).toEqual(shown)
  expect(shown).toHaveLength(12)
})
