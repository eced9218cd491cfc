import type { Chart } from '../render/charts.ts'
import { drawDots } from './dots.ts'
import { kindList } from './kinds.ts'
import { drawLines } from './lines.ts'
import { showThemes } from './theme.ts'

/** Milliseconds of drawing after which the browser may do something else before the next plot. */
const SLICE_MS = 100

/** Where a plot belongs, and the width that it has or will be drawn with, in pixels. */
interface Place {
  readonly element: HTMLElement
  readonly chart: Chart
  readonly name: string
  width: number
}

const charts = JSON.parse(document.getElementById('charts')?.textContent ?? '[]') as Chart[]
const places = new Map<Element, Place>()
const waiting: Place[] = []

function start(): void {
  showThemes()
  const kinds = document.getElementById('kinds')
  kinds?.append(kindList())
  kinds?.toggleAttribute('hidden', false)
  // Reports the first width of each place too, so it also draws the plots for the first time.
  const observer = new ResizeObserver((entries) => {
    const idle = waiting.length === 0
    for (const { target, contentRect } of entries) {
      const place = places.get(target)
      const width = Math.floor(contentRect.width)
      // A place in a closed part of the page has no width. It is drawn when it gets one.
      if (place === undefined || width === 0 || place.width === width) continue
      place.width = width
      if (!waiting.includes(place)) waiting.push(place)
    }
    if (idle && waiting.length > 0) requestAnimationFrame(drawWaiting)
  })
  for (const element of document.querySelectorAll<HTMLElement>('.plot')) {
    const chart = charts[Number(element.dataset['chart'])]
    if (chart === undefined) continue
    places.set(element, { element, chart, name: element.dataset['name'] ?? '', width: 0 })
    observer.observe(element)
  }
  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details')) details.open = true
    for (const place of waiting.splice(0)) draw(place)
  })
}

function drawWaiting(): void {
  const began = performance.now()
  while (waiting.length > 0 && performance.now() - began < SLICE_MS) draw(waiting.shift() as Place)
  if (waiting.length > 0) setTimeout(drawWaiting)
}

function draw({ element, chart, name, width }: Place): void {
  element.replaceChildren(...(chart.type === 'dots' ? drawDots(chart, width, name) : drawLines(chart, width, name)))
  element.dataset['drawn'] = 'true'
}

start()
