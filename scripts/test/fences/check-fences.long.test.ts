import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkFences } from '../../src/fences/check-fences.ts'
import { tree } from '../tree.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..', '..')
const fence = (info: string, ...lines: readonly string[]): string => [`\`\`\`${info}`, ...lines, '```', '', ''].join('\n')

/** What the check says about one document with these fences: the first line of each problem. */
async function problemsOf(...fences: readonly string[]): Promise<string[]> {
  const { text } = await checkFences(tree({ 'docs/page.md': fences.join('') }), REPOSITORY)
  return text.split('\n').filter((line) => line.startsWith('docs/'))
}

const LIMITER = `import { createLimiter, tokenBucket } from 'sluice'`
const SERVER = `require('node:http').createServer((_, res) => res.end('hello\\n')).listen(process.env.PORT, '127.0.0.1')`

describe('checkFences', () => {
  it('runs what is well: programs, a server and its client, a policy, what they print', async () => {
    const page = [
      fence(
        'ts',
        LIMITER,
        `const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 2 }) })`,
        `console.log((await limiter.check('a')).limits[0]?.remaining)`,
      ),
      fence('text output', '1'),
      fence('sh', `PORT=8080 node -e "${SERVER}" &`, 'mkdir made && cd made'),
      fence(
        'console',
        '$ curl -s http://127.0.0.1:8080/',
        'hello',
        '$ basename $PWD',
        'made',
        '$ echo 127.0.0.1:8080 \\',
        '> and more',
        '...:8080 and more',
      ),
      fence('yaml file=policy.yaml', 'version: 1', 'rules:', '  - { name: all, rate: 1/s, burst: 1, key: [] }'),
      fence('sh', 'sluice check policy.yaml | grep all'),
      fence('console exit=3', '$ sluice nonsense', '...nonsense...'),
      fence('ts no-run: it would wait for ever', 'await new Promise(() => {})'),
      fence('json', '{ "a": 1 }'),
      fence('nginx', 'location / {}'),
    ]
    const finding = await checkFences(tree({ 'docs/page.md': page.join('') }), REPOSITORY)
    expect(finding).toEqual({ ok: true, text: '1 documents: 8 fences and commands run, 2 programs type-checked, 3 read only' })
  })

  it('names the line of every fence that is not well', async () => {
    const problems = await problemsOf(
      fence('ts', LIMITER, '', `const burst: string = 2`, 'console.log(burst)'),
      fence('ts', '', `throw new Error('no')`),
      fence('sh', 'true', 'false', 'true'),
      fence('sh exit=2', 'true'),
      fence('console', '$ echo a', 'b'),
      fence('yaml', 'version: 1', 'rules:', '  - { name: all, rate: often }'),
      fence('yaml', 'a: [', 'b'),
      fence('json', '{ a: 1 }'),
      fence('toys', ''),
      fence('', ''),
      fence('text output', 'nobody'),
    )
    const lines = problems.map((problem) => problem.split(': ', 2).join(': '))
    expect(lines.sort((a, b) => Number(a.split(':')[1]) - Number(b.split(':')[1]))).toEqual([
      'docs/page.md:4: error TS2322',
      'docs/page.md:10: exit code 1',
      'docs/page.md:15: exit code 1',
      'docs/page.md:19: exit code 0, said to be 2',
      'docs/page.md:25: is not what was printed:',
      'docs/page.md:31: exit code 1',
      expect.stringMatching(/^docs\/page\.md:34: no yaml/),
      expect.stringMatching(/^docs\/page\.md:39: no json/),
      expect.stringMatching(/^docs\/page\.md:43: toys is no language/),
      expect.stringMatching(/^docs\/page\.md:47: the fence has no info string/),
      expect.stringMatching(/^docs\/page\.md:51: an output follows/),
    ])
  })

  it('says where a document left its shell', async () => {
    expect(await problemsOf(fence('sh', 'true'), fence('sh', 'exit 0'), fence('sh', 'true'))).toEqual([
      'docs/page.md:5: did not end, or ended the shell',
    ])
  })
})
