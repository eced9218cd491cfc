import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NAV, SIDEBAR } from '../../site/.vitepress/navigation.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const links = [...NAV, ...Object.values(SIDEBAR).flatMap((sections) => sections.flatMap(({ items }) => items))].map(({ link }) => link)

/** The Markdown file that a link of the site leads to. The API reference is made only when the site is built. */
const fileOf = (link: string): string => (link.endsWith('/') ? `${link}README.md` : `${link}.md`).slice(1)

describe('the navigation of the site', () => {
  it('links only to pages', () => {
    expect(links.length).toBeGreaterThan(25)
    expect(links.filter((link) => link !== '/api/' && !existsSync(join(ROOT, fileOf(link))))).toEqual([])
  })

  it('has every document', () => {
    const pages = ['docs', 'docs/stores'].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    )
    expect(pages.filter((page) => !links.map(fileOf).includes(page))).toEqual([])
  })
})
