import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CHROMIUM_FLAGS } from '@sluice/scripts/engines'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { dotChartOf } from '../src/render/charts.ts'
import { reportHtml } from '../src/render/html.ts'
import { FULL, fullResults } from './full-results.ts'
import { folder } from './run-bench.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const MAX_BYTES = 500_000
const SOME = fullResults({ suites: 1, parts: 2, loads: 2, readings: 2 })
const TABLES = SOME.flatMap(({ parts }) => parts.flatMap(({ tables }) => tables))
const { chromium: executablePath } = inject('engines')

it('the report of a full run has at most 500 kB', () => {
  expect(Buffer.byteLength(reportHtml(fullResults(FULL)))).toBeLessThanOrEqual(MAX_BYTES)
})

describe.skipIf(executablePath === undefined)('the report, opened as a file in a real browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: CHROMIUM_FLAGS.filter((flag) => flag !== '--headless') })
  })
  afterAll(async () => void (await browser?.close()))

  /** Opens the report without a network, and fails the test for any error or request in it. */
  async function open(options: BrowserContextOptions = {}, results = SOME): Promise<Page> {
    const file = join(folder(), 'report.html')
    writeFileSync(file, reportHtml(results))
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, offline: true, ...options })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => void (['error', 'warning'].includes(message.type()) && problems.push(message.text())))
    page.on('request', (request) => void (/^(?:file|blob):/.test(request.url()) || problems.push(request.url())))
    onTestFinished(async () => {
      await page.close()
      expect(problems).toEqual([])
    })
    await page.goto(pathToFileURL(file).href)
    return page
  }

  /** Waits until all plots are drawn. */
  async function drawn(page: Page): Promise<void> {
    await page.locator('.plot').first().waitFor()
    const missing = page.locator('.plot:not([data-drawn])')
    await expect.poll(() => missing.count()).toBe(0)
  }

  const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

  it.each([
    ['dark', 1280],
    ['light', 1280],
    ['dark', 360],
    ['light', 360],
  ] as const)('axe finds nothing, and the page is no wider than the window: %s, %i pixels wide', async (colorScheme, width) => {
    const page = await open({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true })
    await drawn(page)
    for (const closed of await page.locator('main details > summary').all()) await closed.click()
    await page.evaluate(AXE)
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run())
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])])).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(width)
    // Texts of plots end within the plot, and the over-grant is in view, however far a table is scrolled.
    const cut = await page.locator('.plot svg text').evaluateAll((texts) =>
      texts
        .filter((text) => {
          const [own, plot] = [text.getBoundingClientRect(), (text.closest('.plot') as Element).getBoundingClientRect()]
          return own.left < plot.left - 1 || own.right > plot.right + 1
        })
        .map((text) => text.textContent),
    )
    expect(cut).toEqual([])
    const hidden = await page
      .locator('td.og')
      .evaluateAll((cells) => cells.filter((cell) => cell.getBoundingClientRect().right > innerWidth).length)
    expect(hidden).toBe(0)
    if (process.env['SLUICE_SCREENSHOT'] !== undefined)
      await page.screenshot({ path: `${process.env['SLUICE_SCREENSHOT']}-${colorScheme}-${width}.png`, fullPage: true })
  })

  it('draws every ranked table with a mark for each row, every plot with a line for each series, and names them', async () => {
    const page = await open()
    await drawn(page)
    const marks = await page
      .locator('.pair .plot')
      .evaluateAll((plots) => plots.map((plot) => plot.querySelectorAll('g[data-mark="dot"] > *').length))
    expect(TABLES.map(dotChartOf).includes(undefined)).toBe(false)
    expect(marks).toEqual(TABLES.map(({ rows }) => rows.length))
    const plots = SOME.flatMap(({ parts }) => parts.flatMap((part) => part.plots))
    const lines = await page
      .locator('svg[aria-label^="Line plot"]')
      .evaluateAll((all) => all.map((plot) => plot.querySelectorAll('g[data-mark="line"]').length))
    expect(lines).toEqual(plots.map(({ series }) => series.length))
    const names = await page.getByRole('img').evaluateAll((all) => all.map((image) => image.getAttribute('aria-label') ?? ''))
    expect(names.length).toBeGreaterThan(lines.length + TABLES.length)
    expect(names.every((name) => /^(?:Dot|Line) plot of .+\. The numbers are in the table/.test(name))).toBe(true)
  })

  it('has a tick at each measured number, not between one process and two', async () => {
    const [suite] = SOME as [(typeof SOME)[number]]
    const [part] = suite.parts as [(typeof suite.parts)[number]]
    const [plot] = part.plots as [(typeof part.plots)[number]]
    const ticksOf = async (xs: readonly number[]): Promise<unknown> => {
      const series = plot.series.slice(0, 1).map((one) => ({ ...one, points: xs.map((x) => ({ x, y: x })) }))
      const plots = [{ ...plot, x: { title: 'processes' }, series }]
      const page = await open({}, [{ ...suite, parts: [{ ...part, tables: [], plots }] }])
      await drawn(page)
      return page.locator('svg[aria-label^="Line plot"] g[data-mark="x-axis tick label"] text').allTextContents()
    }
    expect(await ticksOf([1, 2])).toEqual(['1', '2'])
    expect(await ticksOf([1, 2, 4, 8])).toEqual(['1', '2', '4', '8'])
    expect(await ticksOf([0, 1, 1_000])).not.toContain('1')
  })

  it('draws again at another width, and has other colours in the theme that is chosen', async () => {
    const page = await open({ colorScheme: 'light' })
    await drawn(page)
    await page.setViewportSize({ width: 360, height: 800 })
    const widest = (): Promise<number> =>
      page.locator('.plot svg').evaluateAll((all) => Math.max(...all.map((plot) => plot.getBoundingClientRect().width)))
    await expect.poll(widest).toBeLessThan(360)
    const colour = (): Promise<string> =>
      page
        .locator('.pair g[data-mark="dot"] > *')
        .first()
        .evaluate((mark) => getComputedStyle(mark).stroke)
    const light = await colour()
    await page.getByRole('button', { name: 'Dark' }).click()
    expect(await colour()).not.toBe(light)
    await page.getByRole('button', { name: 'Light' }).click()
    expect(await colour()).toBe(light)
  })

  it('says without scripts what is missing, and where it is', async () => {
    const page = await open({ javaScriptEnabled: false })
    const text = await page.locator('body').innerText()
    expect(text).toContain('The file report.md next to it has the same tables')
    expect(text).toContain('What each suite found')
  })

  it('draws a full run', async () => {
    const page = await open({}, fullResults(FULL))
    await drawn(page)
    expect(await widthOf(page)).toBeLessThanOrEqual(1280)
  })
})
