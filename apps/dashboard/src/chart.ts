import type uPlotClass from 'uplot'
import { rate } from './element.ts'

export interface History {
  /** Seconds from 1970 to the end of the last entry. Each entry counts the requests of one second. */
  readonly second: number
  readonly allowed: readonly number[]
  readonly refused: readonly number[]
}

const HEIGHT = 210
/** The least height of the vertical axis, in requests per second. */
const LEAST = 5
const dark = matchMedia('(prefers-color-scheme: dark)')

let [box, readout]: [HTMLElement?, HTMLElement?] = []
let chart: uPlotClass | undefined
let drawn: History | undefined

/** Prepares the chart in the element `into`. The values under the pointer are written to the element `text`. */
export function startChart(into: HTMLElement, text: HTMLElement): void {
  ;[box, readout] = [into, text]
  // A canvas keeps the colours with which it was drawn, so the chart is drawn again when the colour scheme changes.
  dark.addEventListener('change', () => {
    chart?.destroy()
    chart = undefined
    if (drawn !== undefined) drawChart(drawn)
  })
  new ResizeObserver(() => chart?.setSize({ width: into.clientWidth, height: HEIGHT })).observe(into)
}

export function drawChart(history: History): void {
  drawn = history
  if (box === undefined) return
  const data: uPlotClass.AlignedData = [
    history.allowed.map((_, index) => history.second - history.allowed.length + index),
    [...history.allowed],
    [...history.refused],
  ]
  // The global of /uplot.js, which the page loads before its own scripts.
  if (chart === undefined) chart = new uPlot(optionsFor(box), data, box)
  else chart.setData(data)
  read(chart)
}

function optionsFor(into: HTMLElement): uPlotClass.Options {
  const style = getComputedStyle(into)
  const colour = (name: string): string => resolved(into, style.getPropertyValue(name))
  const font = `12px ${style.fontFamily}`
  const axis = { font, stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const line = (label: string, name: string): uPlotClass.Series => {
    const stroke = colour(name)
    return { label, stroke, width: 2, points: { show: false }, fill: translucent(stroke) }
  }
  return {
    width: into.clientWidth,
    height: HEIGHT,
    padding: [10, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_self, _least, most) => [0, Math.max(LEAST, most * 1.1)] } },
    series: [{}, line('allowed', '--allowed'), line('refused', '--refused')],
    axes: [
      { ...axis, space: 70, size: 30, values: (_self, splits) => splits.map((second) => timeText(second)) },
      { ...axis, size: 48, values: (_self, splits) => splits.map((value) => rate(value)) },
    ],
    hooks: { setCursor: [read] },
  }
}

/** Writes the values of the second under the pointer, or of the last second if there is no pointer on the chart. */
function read({ cursor, data }: uPlotClass): void {
  const [seconds, allowed, refused] = data
  const index = cursor.idx ?? seconds.length - 1
  const second = seconds[index]
  if (readout === undefined || second === undefined) return
  const values = [allowed, refused].map((counts) => rate(counts?.[index] ?? 0))
  readout.textContent = `${timeText(second, true)}: ${values[0]} allowed, ${values[1]} refused in this second`
}

function timeText(second: number, exact = false): string {
  const parts: Intl.DateTimeFormatOptions = { hourCycle: 'h23', hour: '2-digit', minute: '2-digit' }
  if (exact || second % 60 !== 0) parts.second = '2-digit'
  return new Date(second * 1_000).toLocaleTimeString(undefined, parts)
}

/** A CSS colour as `rgb()`. The page's colours may be `light-dark()`, which a canvas cannot read. */
function resolved(into: HTMLElement, value: string): string {
  const probe = document.createElement('span')
  probe.style.color = value
  into.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.16)')
}
