import { describe, expect, it, onTestFinished } from 'vitest'
import { runAsTyped } from '../../src/package-test/as-typed.ts'
import { createPlace } from '../../src/package-test/place.ts'
import { type Program, programsOf } from '../../src/package-test/programs.ts'
import { tree } from '../tree.ts'

/** More than a process needs to start on a busy machine, for programs that do what they must. */
const LONG_MS = 60_000

async function run(code: string, withinMs: number): Promise<void> {
  const root = tree({ 'README.md': `\`\`\`js\n${code}\n\`\`\`\n\n\`\`\`text output\nwell\n\`\`\`\n` })
  const [program] = programsOf(root, 'README.md') as [Program]
  const place = createPlace('http://127.0.0.1:9/')
  onTestFinished(() => place.remove())
  // An adapter's name is in a comment, because the package is not installed here.
  await runAsTyped(place, [process.execPath], program, new Map(), withinMs)
}

const SERVER = `import { createServer } from 'node:http' // import { rateLimit } from 'sluice/node'
const server = createServer((request, response) => response.writeHead(request.url === '/' ? STATUS : 404).end())`

describe('a program of README as a reader types it', () => {
  it('prints what README shows and ends', () => run(`console.log('well')`, LONG_MS))

  it('fails if it prints something else', async () => {
    await expect(run(`console.log('ill')`, LONG_MS)).rejects.toThrow('README.md:1 printed\nill')
  })

  it('fails if it does not end by itself', async () => {
    await expect(run(`console.log('well')\nsetInterval(() => {}, 1_000)`, 1_000)).rejects.toThrow('not ended after 1 s')
  })

  it('fails if it is TypeScript that a .mjs file cannot hold', async () => {
    await expect(run(`const a: string = 'well'\nconsole.log(a)`, LONG_MS)).rejects.toThrow('SyntaxError')
  })

  it('listens and answers if it serves requests', () => run(`${SERVER.replace('STATUS', '200')}\nserver.listen(3000)`, LONG_MS))

  it('fails if it answers with an error', async () => {
    await expect(run(`${SERVER.replace('STATUS', '500')}\nserver.listen(3000)`, LONG_MS)).rejects.toThrow('README.md:1 answers 500')
  })

  it('fails if it should serve requests and does not listen', async () => {
    await expect(run(SERVER, LONG_MS)).rejects.toThrow('README.md:1 serves requests, but listens on no port')
    await expect(run(`${SERVER}\nserver.address('http://127.0.0.1:3000')`, LONG_MS)).rejects.toThrow('exit code 0')
  })
})
