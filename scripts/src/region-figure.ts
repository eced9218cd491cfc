import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { axisX, axisY, gridY, line, type Markish, plot, ruleX, ruleY, text } from '@observablehq/plot'
import { build } from 'esbuild'
import { parseHTML } from 'linkedom'

/**
 * Draws the figure of docs/regions.md from a run on a virtual clock, which has the same result every time.
 * Usage: region-figure.js [FILE]
 */

interface Run {
  readonly names: readonly string[]
  readonly rate: number
  readonly events: readonly { readonly at: number; readonly text: string }[]
  readonly samples: readonly { readonly second: number; readonly region: string; readonly perSecond: number; readonly units: number }[]
}

/** The members of a linkedom element that this program uses. They are declared here, because the types of browsers are not loaded. */
interface Panel {
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelectorAll(name: string): Iterable<{ remove(): void }>
  readonly outerHTML: string
}

/** Colours that differ for colour-blind readers too; the lines also differ by their dashes. */
const STYLES = ['var(--one)', 'var(--two)', 'var(--three)'] as const
const DASHES = ['none', '7 3', '2 3'] as const
const WIDTH = 720
/** As an image, the figure has the theme of the system, not that of the page around it. So it has a background of its own. */
const CSS = `
:root { --one: #0060a8; --two: #b04a00; --three: #00715a; --ink: #1f2328; --line: #d4d9de; --ground: #ffffff; font: 12px sans-serif }
@media (prefers-color-scheme: dark) {
  :root { --one: #6cb6ff; --two: #ffa657; --three: #56d4b0; --ink: #e6edf3; --line: #3b434b; --ground: #0d1117 }
}
text { fill: var(--ink) }`

const root = join(import.meta.dirname, '..', '..')
const [file = join(root, 'docs', 'images', 'regions.svg')] = process.argv.slice(2)
const { document } = parseHTML('<!doctype html><html><body></body></html>')
const run = await ran()
const [above, below] = [admitted(run), held(run)].map((drawn, index) => {
  drawn.setAttribute('y', String(index === 0 ? 0 : 230))
  drawn.removeAttribute('class')
  for (const style of drawn.querySelectorAll('style')) style.remove()
  return drawn.outerHTML
})
const label = 'Two plots over 65 seconds: what three regions admit a second, and the units that each holds. The text below describes them.'
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 450" width="${WIDTH}" height="450" role="img" aria-label="${label}">
<style>${CSS}</style><rect width="100%" height="100%" fill="var(--ground)"/>
${above}
${below}
</svg>
`
writeFileSync(file, svg)

async function ran(): Promise<Run> {
  const outfile = join(root, 'node_modules', '.cache', 'region-figure.mjs')
  const entry = join(root, 'packages', 'sluice', 'test', 'regions', 'figure.ts')
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', conditions: ['sluice-source'] })
  return JSON.parse(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })) as Run
}

function admitted({ names, rate, events, samples }: Run): Panel {
  const bySecond = new Map<number, number>()
  for (const { second, perSecond } of samples) bySecond.set(second, (bySecond.get(second) ?? 0) + perSecond)
  const sums = [...bySecond].map(([second, perSecond]) => ({ second, perSecond }))
  return panel('admitted a second', 230, [
    ruleY([rate], { stroke: 'var(--ink)', strokeDasharray: '1 3' }),
    line(sums, { x: 'second', y: 'perSecond', stroke: 'var(--ink)', strokeWidth: 1, strokeOpacity: 0.7 }),
    ...lines({ names, samples }, 'perSecond'),
    ...marked(events),
    text(events, { x: 'at', y: rate * 1.22, text: 'text', textAnchor: 'start', dx: 4 }),
  ])
}

function held({ names, events, samples }: Run): Panel {
  return panel('units held', 220, [...lines({ names, samples }, 'units'), ...marked(events)])
}

function panel(title: string, height: number, marks: readonly Markish[]): Panel {
  return plot({
    document: document as never,
    width: WIDTH,
    height,
    marginLeft: 50,
    marginRight: 40,
    marginTop: 28,
    x: { label: 'seconds', domain: [0, 65] },
    y: { label: title, zero: true },
    marks: [gridY({ stroke: 'var(--line)', strokeOpacity: 1 }), axisX({ ticks: 14 }), axisY({ ticks: 5 }), ...marks],
  })
}

function lines({ names, samples }: Pick<Run, 'names' | 'samples'>, y: 'perSecond' | 'units'): Markish[] {
  return names.flatMap((name, index) => {
    const own = samples.filter(({ region }) => region === name)
    const stroke = STYLES[index] as string
    return [
      line(own, { x: 'second', y, stroke, strokeWidth: 2, strokeDasharray: DASHES[index] as string }),
      text(own.slice(-1), { x: 'second', y, text: () => name, fill: stroke, textAnchor: 'start', dx: 6 }),
    ]
  })
}

function marked(events: Run['events']): Markish[] {
  return [ruleX(events.slice(1), { x: 'at', stroke: 'var(--ink)', strokeOpacity: 0.4 })]
}
