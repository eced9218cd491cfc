import { describe, expect, it } from 'vitest'
import { importsOf } from '../src/import-scan.ts'

const found = (source: string): string[] =>
  importsOf(source).map(({ specifier, line, typeOnly }) => `${line}:${specifier}${typeOnly ? ' (type)' : ''}`)

describe('importsOf', () => {
  it('finds every form of import and re-export, with its line', () => {
    const source = [
      `import './effect.ts'`,
      `import one from "./one.ts"`,
      `import { two, type Two } from './two.ts'`,
      `import * as three from './three.ts'`,
      `import five, {`,
      `  six,`,
      `} from './four.ts'`,
      `export * from './seven.ts'`,
      `export * as eight from './eight.ts'`,
      `export { nine as default } from './nine.ts'`,
      `const ten = await import('./ten.ts')`,
      `const eleven = require('./eleven.cjs')`,
    ].join('\n')
    expect(found(source)).toEqual([
      '1:./effect.ts',
      '2:./one.ts',
      '3:./two.ts',
      '4:./three.ts',
      '5:./four.ts',
      '8:./seven.ts',
      '9:./eight.ts',
      '10:./nine.ts',
      '11:./ten.ts',
      '12:./eleven.cjs',
    ])
  })

  it('tells what the compiler erases from what it loads', () => {
    expect(found(`import type { A } from 'a'\nexport type { B } from 'b'\nimport { type C } from 'c'\nimport type from 'd'`)).toEqual([
      '1:a (type)',
      '2:b (type)',
      '3:c',
      '4:d',
    ])
  })

  it('reads no comment, string, template or pattern as code', () => {
    const source = [
      `// import 'a'`,
      `/* export * from 'b'`,
      ` */`,
      `const text = "import 'c'"`,
      'const template = `',
      `import 'd' \${inner('}', \`import 'e' \${1}\`)}`,
      `import 'f'`,
      '`',
      `const pattern = /import 'g'["'\`/]/.test(text) ? 1 / 2 : 4 / 2`,
      `const url = meta.import('h')`,
      `import 'real'`,
    ].join('\n')
    expect(found(source)).toEqual(['11:real'])
  })

  it('is not led astray by declarations that are exported', () => {
    expect(found(`export const from = 'x'\nexport function f(): string { return 'y' }\nexport { a, b }\nconst from2 = 'z'`)).toEqual([])
  })
})
