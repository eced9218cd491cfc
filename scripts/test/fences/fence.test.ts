import { describe, expect, it } from 'vitest'
import { fencesOf } from '../../src/fences/fence.ts'

const block = (info: string, ...lines: readonly string[]): string => [`\`\`\`${info}`, ...lines, '```', ''].join('\n')

describe('fencesOf', () => {
  it('gives language, text and the line of the opening mark', () => {
    const { fences, problems } = fencesOf(`# Title\n\n${block('ts', 'const a = 1', '', 'a')}\n~~~ sh\nls\n~~~\n`)
    expect(problems).toEqual([])
    expect(fences).toEqual([
      { line: 3, language: 'ts', text: 'const a = 1\n\na\n' },
      { line: 9, language: 'sh', text: 'ls\n' },
    ])
  })

  it('takes the indentation of a fence in a list from its lines', () => {
    const { fences, problems } = fencesOf('- point\n\n  ```yaml\n  a:\n    b: 1\n  ```\n')
    expect(problems).toEqual([])
    expect(fences).toEqual([{ line: 3, language: 'yaml', text: 'a:\n  b: 1\n' }])
  })

  it('ends a fence only at a mark as long as its own', () => {
    expect(fencesOf('````text\n```ts\n```\n````\n').fences).toEqual([{ line: 1, language: 'text', text: '```ts\n```\n' }])
  })

  it.each([
    ['ts no-run: needs a cluster', { language: 'ts', noRun: 'needs a cluster' }],
    ['sh exit=3', { language: 'sh', exit: 3 }],
    ['yaml file=policy.yaml', { language: 'yaml', file: 'policy.yaml' }],
    ['yaml file=a.yaml no-run: exit=1 is what it shows', { language: 'yaml', file: 'a.yaml', noRun: 'exit=1 is what it shows' }],
    ['text output', { language: 'text', output: true }],
  ])('reads the info string %s', (info, expected) => {
    expect(fencesOf(block(info)).fences).toEqual([{ line: 1, text: '', ...expected }])
  })

  it.each([
    ['', /no info string/],
    ['ts no-run', /says why/],
    ['ts no-run:', /says why/],
    ['ts norun: typed wrong', /says norun:/],
    ['sh output', /says output/],
    ['sh exit=x', /says exit=x/],
    ['yaml file=../policy.yaml', /says file=/],
  ])('refuses the info string "%s"', (info, why) => {
    const { fences, problems } = fencesOf(`text\n\n${block(info)}`)
    expect(fences).toEqual([])
    expect(problems).toEqual([{ line: 3, text: expect.stringMatching(why) }])
  })

  it('names a fence that is not closed, and code that is only indented', () => {
    expect(fencesOf('a\n\n    npm start\n    npm test\n\n```ts\n').problems.map(({ line }) => line)).toEqual([3, 6])
    expect(fencesOf('- a point\n\n    of two paragraphs\n\n1. and\n   more\n').problems).toEqual([])
  })
})
