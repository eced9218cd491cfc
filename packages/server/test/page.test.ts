import { chromium, type Browser } from 'playwright-core'
import { CHROMIUM_FLAGS } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const TIERS = `
version: 1
rules:
  - name: a
    key: [header:x-plan]
    tiers:
      - { when: { header:x-plan: big }, rate: 100/min, burst: 1000 }
      - { rate: 10/min, burst: 20 }
`
const policyFile = policyFiles()
const { chromium: executablePath } = inject('engines')

describe.skipIf(executablePath === undefined)('the page, in a real browser', () => {
  let service: Running
  let browser: Browser
  beforeAll(async () => {
    service = await serve(['--demo'])
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: CHROMIUM_FLAGS.filter((flag) => flag !== '--headless') })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  it('drains and fills the limits while 60 requests run, and shows the headers of the last answer', async () => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) =>
      message.type() === 'error' && !message.text().includes('429') ? problems.push(message.text()) : undefined,
    )
    await page.goto(service.url)
    await page.getByText('live', { exact: true }).waitFor()
    const bar = page.getByRole('progressbar', { name: 'endpoint:/api/search' })
    const level = async (): Promise<number> => Number(await bar.getAttribute('value'))
    await expect.poll(level).toBe(50)
    const send = (): Promise<void> => page.getByRole('button', { name: 'Send 60 requests' }).click()
    const headers = (): Promise<string> => page.locator('#headers').innerText()
    await send()
    await expect.poll(level).toBeLessThan(10)
    await page.getByText('60 sent').waitFor()
    const words = await page.locator('#counts').textContent()
    expect(Number(/(\d+) passed/.exec(words ?? '')?.[1])).toBeGreaterThanOrEqual(10)
    // The last of 60 is denied where they come fast enough: a busy machine sends more of them.
    const denied = async (): Promise<boolean> => (await headers()).includes('retry-after')
    while (!(await denied())) {
      await send()
      await expect
        .poll(denied, { timeout: 5_000 })
        .toBe(true)
        .catch(() => {})
    }
    expect(await headers()).toContain('"endpoint:/api/search";q=50;w=10')
    const low = await level()
    await expect.poll(level, { timeout: 5_000 }).toBeGreaterThan(low + 5)
    if (process.env['SLUICE_SCREENSHOT'] !== undefined) await page.screenshot({ path: process.env['SLUICE_SCREENSHOT'], fullPage: true })
    expect(problems).toEqual([])
    await page.close()
  })

  it('draws a limit in the tier of the last caller', async () => {
    const tiered = await serve([policyFile(TIERS), '--demo'])
    const page = await browser.newPage()
    await page.goto(tiered.url)
    await page.getByText('live', { exact: true }).waitFor()
    const bar = page.getByRole('progressbar', { name: 'a' })
    const check = (plan: string): Promise<void> =>
      page.evaluate(async (value) => void (await fetch('/api/data', { headers: { 'x-plan': value } })), plan)
    const drawn = async (): Promise<readonly (string | null)[]> => [
      await bar.getAttribute('max'),
      await page.locator('.limit .level').textContent(),
      await page.locator('.limit .rate').textContent(),
    ]
    await expect.poll(drawn).toEqual(['20', '20 of 20', 'refilled at 0.167 a second'])
    await check('big')
    await expect.poll(drawn).toEqual(['1000', '999 of 1000', 'refilled at 1.667 a second'])
    for (let sent = 0; sent < 10; sent += 1) await check('small')
    await expect.poll(drawn).toEqual(['20', '10 of 20', 'refilled at 0.167 a second'])
    await page.close()
    await tiered.stop()
  })
})
