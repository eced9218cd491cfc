import { describe, expect, it } from 'vitest'
import { withLinks } from '../../src/release/documents.ts'

const has = (file: string): boolean => file === 'docs/policy.md'
const TREE = 'https://example.org/o/n/blob/v1.0.0'

describe('a document in a published package', () => {
  it.each([
    ['a file of the package', '[policy](docs/policy.md#keys)', '[policy](docs/policy.md#keys)', '[policy](docs/policy.md#keys)'],
    ['another file', '[ci](.ci/run#x)', 'ci', `[ci](${TREE}/.ci/run#x)`],
    ['two links of a line', '[a](x.md), [b](docs/policy.md)', 'a, [b](docs/policy.md)', `[a](${TREE}/x.md), [b](docs/policy.md)`],
    ['an address', '[npm](https://npmjs.com)', '[npm](https://npmjs.com)', '[npm](https://npmjs.com)'],
    ['a heading', '[below](#limits)', '[below](#limits)', '[below](#limits)'],
    ['a picture', 'x ![page](docs/page.png)', 'x ', `x ![page](${TREE}/docs/page.png)`],
    ['a file, on two lines', 'see [law\n7](x.md#laws).', 'see law\n7.', `see [law\n7](${TREE}/x.md#laws).`],
    [
      'what is after code',
      'a\n  ```js\n[a](b)\n  ```\n[a](b)',
      'a\n  ```js\n[a](b)\n  ```\na',
      `a\n  \`\`\`js\n[a](b)\n  \`\`\`\n[a](${TREE}/b)`,
    ],
    ['code', '```js\n[a](b)\n```', '```js\n[a](b)\n```', '```js\n[a](b)\n```'],
  ])('links to %s', (_, text, without, known) => {
    expect(withLinks(text, 'README.md', has, '')).toBe(without)
    expect(withLinks(text, 'README.md', has, TREE)).toBe(known)
  })

  it('reads a link from the folder of its document', () => {
    expect(withLinks('[a](../policy.md) [b](../../LICENSE)', 'docs/stores/redis.md', has, '')).toBe('[a](../policy.md) b')
  })
})
