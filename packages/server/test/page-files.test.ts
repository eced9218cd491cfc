import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { serve } from './command.ts'
import { local } from './in-process.ts'

const POLICY = `
version: 1
rules:
  - { name: a<b>&c, key: [], rate: 10/s, burst: 20 }
  - { name: per-client, key: [ip:address], rate: 5/h, burst: 1 }
`

describe('the page', () => {
  it('U9: has its limits, counts and the last refusal in it without JavaScript', async () => {
    const { url, post } = await local(POLICY)
    const text = async (): Promise<string> => (await (await fetch(url)).text()).replaceAll(/\s+/g, ' ')
    const before = await text()
    expect(before).toContain('<strong>a&lt;b&gt;&amp;c</strong>: 20 at most, refilled at 10 a second, for all requests together.')
    expect(before).toContain('<strong>per-client</strong>: 1 at most, refilled at 5 an hour, for each ip:address.')
    expect(before).toContain('No request was refused since the start.')
    expect(before).not.toContain('<!-- put')
    for (let sent = 0; sent < 3; sent += 1) await post('/v1/check', { path: '/x', ip: '203.0.113.9' })
    // Only seconds that are over are counted.
    await expect.poll(text).toContain('<strong id="refused">2</strong>')
    const after = await text()
    expect(after).toContain('<strong id="allowed">1</strong>')
    expect(after).toContain('for each ip:address. Refused in the last five minutes: 2.')
    expect(after).toMatch(/The limit per-client is used up\. The same request would pass [\d.]+ min later\./)
    expect(after).not.toContain('203.0.113.9')
  })

  it('shows at most 200 limits of a policy, and says how many it leaves out', async () => {
    const rules = Array.from({ length: 203 }, (_, index) => `  - { name: rule-${index}, key: [], rate: 1/s, burst: 1 }\n`).join('')
    const { url } = await local(`version: 1\nrules:\n${rules}`)
    const text = await (await fetch(url)).text()
    expect([text.includes('rule-199'), text.includes('rule-200'), text.includes('3 more limits are not shown')]).toEqual([
      true,
      false,
      true,
    ])
    expect(await (await fetch(`${url}/v1/overview`)).json()).toMatchObject({ limits: { length: 200 }, notShown: 3 })
  })

  it('U9: has a favicon, and serves every file that it names under its content security policy', async () => {
    const { url } = await local(POLICY)
    const page = await fetch(url)
    const csp = page.headers.get('content-security-policy')
    expect(csp).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")
    const html = await page.text()
    const files = [...html.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path)
    expect(files).toEqual(expect.arrayContaining(['/favicon.svg', '/uplot.js', '/uplot.css', '/page.js', '/page.css']))
    for (const path of files) {
      const answer = await fetch(`${url}${path}`)
      expect([path, answer.status]).toEqual([path, 200])
      if (/\.\w+$/.test(path)) expect(answer.headers.get('content-security-policy')).toBe(csp)
    }
    expect((await fetch(`${url}/favicon.svg`)).headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    // The demo limits every path except those of the page's own files.
    const demo = await serve(['--demo'])
    expect((await fetch(`${demo.url}/favicon.svg`)).headers.has('ratelimit')).toBe(false)
    await demo.stop()
  })

  it('serves the chart library as its package has it', () => {
    const dashboard = createRequire(import.meta.url).resolve('@sluice/dashboard/index.html')
    const library = 'uplot'
    const folder = dirname(createRequire(dashboard).resolve(`${library}/package.json`))
    for (const [own, theirs] of [
      ['uplot.js', 'dist/uPlot.iife.min.js'],
      ['uplot.css', 'dist/uPlot.min.css'],
      ['LICENSE', 'LICENSE'],
    ] as const)
      expect(readFileSync(join(dirname(dashboard), 'vendor', own), 'utf8')).toBe(readFileSync(join(folder, theirs), 'utf8'))
  })
})
