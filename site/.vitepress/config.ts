import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { defineConfig } from 'vitepress'
import { NAV, SIDEBAR } from './navigation.ts'

const root = join(import.meta.dirname, '../..')
const pages = join(import.meta.dirname, '../dist/pages')
/** Where the repository is on the web, once its owner has said so: links to files that are no pages go there. */
const { repository = '' } = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')) as { repository?: string }

/** The address of a link from one file of the repository to another: a page of the site, a file on the web, or none. */
function addressOf(from: string, href: string): string | undefined {
  const [path = '', hash] = href.split('#')
  const target = normalize(join(dirname(from), path)).replace(/\/$/, '')
  const anchor = hash === undefined ? '' : `#${hash}`
  // A page that is missing stays a link, so that the build fails.
  if (target.endsWith('.md') && (existsSync(join(pages, target)) || !existsSync(join(root, target)))) return `/${target}${anchor}`
  if (existsSync(join(pages, target, 'README.md'))) return `/${target}/README.md${anchor}`
  return repository === '' ? undefined : `${repository}/blob/main/${target}`
}

export default defineConfig({
  title: 'Sluice',
  description: 'A rate limiter for TypeScript: exact, fast and explainable.',
  srcDir: 'dist/pages',
  outDir: 'dist/site',
  cacheDir: 'node_modules/.cache/vitepress',
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  lastUpdated: false,
  markdown: {
    config(md) {
      md.core.ruler.push('links-of-the-repository', (state) => {
        const from = relative(pages, (state.env as { realPath?: string; path: string }).realPath ?? (state.env as { path: string }).path)
        for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : undefined
          if (href === undefined || href === null || /^([a-z]+:|#|\/)/.test(href) || from.startsWith('api/')) continue
          const address = addressOf(from, href)
          if (address === undefined) token.attrs = []
          else token.attrSet('href', address.replace(/(^|\/)README\.md/, '$1index.md'))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: NAV,
    sidebar: SIDEBAR,
  },
})
