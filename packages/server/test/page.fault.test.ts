import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { CHROMIUM_FLAGS } from '@sluice/scripts/engines'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

/** Slow enough that no token comes back before the page was read. */
const TIERS = `
version: 1
rules:
  - name: a
    key: [header:x-plan]
    tiers:
      - { when: { header:x-plan: big }, rate: 100/h, burst: 1000 }
      - { rate: 10/h, burst: 20 }
`
const PER_CLIENT = `
version: 1
rules:
  - { name: per-client, key: [header:x-client], rate: 1/h, burst: 10 }
`
const TOKEN = 'test-token-0123456789'
const policyFile = policyFiles()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const { chromium: executablePath } = inject('engines')

describe.skipIf(executablePath === undefined)('the page, in a real browser', () => {
  let service: Running
  let browser: Browser
  beforeAll(async () => {
    service = await serve(['--demo', '--admin-token-file', policyFile(TOKEN)])
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: CHROMIUM_FLAGS.filter((flag) => flag !== '--headless') })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Opens the page. Fails the test if the page logs an error, except that a request was refused. */
  async function open(url = service.url, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 }, ...options })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on(
      'console',
      (message) => void (message.type() === 'error' && !/ 4(29|01) /.test(message.text()) && problems.push(message.text())),
    )
    onTestFinished(async () => {
      await page.close()
      expect(problems).toEqual([])
    })
    await page.goto(url)
    if (options.javaScriptEnabled !== false) await page.getByText('live', { exact: true }).waitFor()
    return page
  }

  async function other(text: string, ...args: readonly string[]): Promise<Running> {
    const running = await serve([policyFile(text), '--demo', ...args])
    onTestFinished(async () => void (await running.stop()))
    return running
  }

  const send = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send 60 requests' }).click()
  const check = (page: Page, headers: Record<string, string>): Promise<void> =>
    page.evaluate(async (sent) => void (await fetch('/api/data', { headers: sent })), headers)

  it('drains and fills the limits while 60 requests run, and shows the headers and the problem of the last answer', async () => {
    const page = await open()
    const bar = page.getByRole('meter', { name: 'endpoint:/api/search' })
    const level = async (): Promise<number> => Number(await bar.getAttribute('aria-valuenow'))
    await expect.poll(level).toBe(50)
    const headers = (): Promise<string> => page.locator('#headers').innerText()
    await send(page)
    await expect.poll(level).toBeLessThan(10)
    await page.getByText('60 sent').waitFor()
    const words = await page.locator('#sent').textContent()
    expect(Number(/(\d+) passed/.exec(words ?? '')?.[1])).toBeGreaterThanOrEqual(10)
    // If the 60 requests come fast enough, the last one is denied. On a busy machine they are slower, so the test sends more.
    const denied = async (): Promise<boolean> => (await headers()).includes('retry-after')
    while (!(await denied())) {
      await send(page)
      await expect
        .poll(denied, { timeout: 5_000 })
        .toBe(true)
        .catch(() => {})
    }
    expect(await headers()).toContain('"endpoint:/api/search";q=50;w=10')
    expect(await page.locator('#problem').textContent()).toBe(
      'The limit endpoint:/api/search is used up; try again after the time in Retry-After.',
    )
    // The limit fills once the requests that the test may have sent again are over.
    await page.getByText('60 sent').waitFor()
    const low = await level()
    await expect.poll(level).toBeGreaterThan(Math.min(low + 5, 49))
  })

  it('U9: shows how many requests were allowed and refused, per second too, and why the last one was refused', async () => {
    const { url } = await other(PER_CLIENT)
    const page = await open(url)
    for (let sent = 0; sent < 13; sent += 1) await check(page, { 'x-client': 'one' })
    const figures = (): Promise<readonly (string | null)[]> =>
      Promise.all(['allowed', 'refused', 'share', 'why'].map((id) => page.locator(`#${id}`).textContent()))
    const why = expect.stringMatching(/^The limit per-client is used up\. The same request would pass (1 h|59\.\d min|60 min) later\.$/)
    await expect.poll(figures).toEqual(['10', '3', '23 %', why])
    expect(await page.locator('#when').textContent()).toMatch(/^(just now|\d+ seconds ago), at \d/)
    await expect.poll(() => page.locator('.limit .times').textContent()).toBe('3 refused')
    // The page shows the chart, and the same numbers as a table for readers who cannot see the chart.
    const drawn = (): Promise<number> =>
      page.locator('#chart canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
        return data.filter((_, index) => index % 4 === 3 && data[index] !== 0).length
      })
    // The chart is drawn once a second, the figures several times.
    await expect.poll(drawn).toBeGreaterThan(500)
    await page.getByText('Numbers of the chart').click()
    const sums = (): Promise<number[]> =>
      page
        .locator('#number-rows tr')
        .evaluateAll((rows) =>
          [1, 2].map((cell) => rows.reduce((sum, row) => sum + Number((row as HTMLTableRowElement).cells[cell]?.textContent), 0)),
        )
    // The table's rows are made only after the browser reports that the table was opened.
    await expect.poll(sums).toEqual([10, 3])
    // The chart also shows requests that were decided before the page was opened.
    const later = await open(url)
    await expect.poll(() => later.locator('#allowed').textContent()).toBe('10')
    expect(await later.locator('#why').textContent()).toEqual(why)
    expect(await later.locator('#when').textContent()).toMatch(/ago, at \d|^just now, at \d/)
  })

  it('U9: the focus stays on the button while requests are sent', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Send 60 requests' }).focus()
    await page.keyboard.press('Enter')
    const focused = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.id)
    expect(await focused()).toBe('send')
    await page.getByText('60 sent').waitFor()
    expect(await focused()).toBe('send')
  })

  it('U9: two clients of a limit do not make its bar jump', async () => {
    const { url } = await other(PER_CLIENT)
    const page = await open(url)
    const level = async (): Promise<string | null> => page.getByRole('meter', { name: 'per-client' }).getAttribute('aria-valuetext')
    for (let sent = 0; sent < 7; sent += 1) await check(page, { 'x-client': 'busy' })
    await expect.poll(level).toBe('3 of 10 left')
    await check(page, { 'x-client': 'quiet' })
    await check(page, { 'x-client': 'busy' })
    await expect.poll(level).toBe('2 of 10 left')
    for (let sent = 0; sent < 5; sent += 1) await check(page, { 'x-client': 'quiet' })
    await expect.poll(() => page.locator('#allowed').textContent()).toBe('14')
    expect(await level()).toBe('2 of 10 left')
  })

  it('draws a limit in the tier of its emptiest client', async () => {
    const { url } = await other(TIERS)
    const page = await open(url)
    const drawn = (): Promise<readonly (string | null)[]> =>
      Promise.all(['level', 'facts'].map((part) => page.locator(`.limit .${part}`).textContent()))
    const facts = (rate: string): string => `refilled at ${rate}, for each header:x-plan`
    await expect.poll(drawn).toEqual(['20 of 20 left', facts('10 an hour')])
    await check(page, { 'x-plan': 'big' })
    await expect.poll(drawn).toEqual(['999 of 1,000 left', facts('1.67 a minute')])
    for (let sent = 0; sent < 10; sent += 1) await check(page, { 'x-plan': 'small' })
    await expect.poll(drawn).toEqual(['10 of 20 left', facts('10 an hour')])
  })

  it('U9: says without JavaScript what it would show, and that it stands still', async () => {
    const page = await open(service.url, { javaScriptEnabled: false })
    const text = await page.locator('body').innerText()
    expect(text).toContain('Scripts are off')
    expect(text).toContain('endpoint:/api/search: 50 at most, refilled at 5 a second')
    for (const hidden of ['Try it', 'Busiest keys', 'Numbers of the chart']) expect(text).not.toContain(hidden)
  })

  it.each([
    ['dark', 1280],
    ['light', 1280],
    ['dark', 360],
    ['light', 360],
  ] as const)('U9: axe finds nothing, and nothing is cut off: %s, %i pixels wide', async (colorScheme, width) => {
    const page = await open(service.url, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true })
    await send(page)
    await page.getByText('60 sent').waitFor()
    await page.getByText('Numbers of the chart').click()
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Show keys' }).click()
    await page.locator('#key-rows tr').first().waitFor()
    await page.evaluate(AXE)
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run())
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])])).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    // On a screen of 360 pixels, the texts of a limit stand one below the other.
    const lefts = await page
      .locator('.limit')
      .first()
      .locator('.words > *')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().left))
    if (width === 360) expect(new Set(lefts).size).toBe(1)
    if (process.env['SLUICE_SCREENSHOT'] !== undefined)
      await page.screenshot({ path: `${process.env['SLUICE_SCREENSHOT']}-${colorScheme}-${width}.png`, fullPage: true })
  })

  it('draws the chart again in the colours of the other theme', async () => {
    const page = await open(service.url, { colorScheme: 'light' })
    const canvas = page.locator('#chart canvas')
    await canvas.waitFor()
    const pixels = (): Promise<string> => canvas.evaluate((drawn: HTMLCanvasElement) => drawn.toDataURL())
    const light = await pixels()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(async () => ((await canvas.count()) === 1 ? (await pixels()) === light : true)).toBe(false)
  })

  it('shows the busiest keys to those who have the admin token', async () => {
    const page = await open()
    await check(page, {})
    const form = page.getByLabel('Admin token')
    await form.fill('not-the-token-of-it')
    await page.keyboard.press('Enter')
    await page.getByText('This is not the admin token of the service.').waitFor()
    await form.fill(TOKEN)
    await page.keyboard.press('Enter')
    const row = page.locator('#key-rows tr').first()
    await row.waitFor()
    expect(await row.innerText()).toMatch(/^\S+\s+[\da-f]{16}\s+[\d,]+\s+[\d,]+$/)
    expect(await form.isVisible()).toBe(false)
    // The page keeps the token in no store of the browser.
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])).toEqual([0, 0, ''])
    const without = await open((await other(PER_CLIENT)).url)
    expect(await without.locator('#keys').innerText()).toContain('start the service with --admin-token-file FILE')
    expect(await without.getByLabel('Admin token').isVisible()).toBe(false)
  })
})
