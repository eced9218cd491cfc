import { areaY, axisX, axisY, dot, gridX, gridY, line, plot, type Markish } from '@observablehq/plot'
import type { LineChart } from '../render/charts.ts'
import { asImage } from './image.ts'
import { seriesList, seriesStyles } from './kinds.ts'
import { FONT_SIZE, logTicks, tickText, widthOf } from './text.ts'

/** Pixels, as all sizes here. */
const [MIN_HEIGHT, MAX_HEIGHT] = [260, 420]
const [X_TICK_SPACE, Y_TICK_SPACE] = [70, 45]
/** A series with more points is drawn without symbols, which would hide the line. */
const MAX_SYMBOLS = 40
const MAX_VALUE_TICKS = 9

type Point = LineChart['series'][number]['points'][number]

interface Scale {
  readonly type: 'linear' | 'log' | 'symlog'
  readonly ticks: number | number[]
  readonly domain?: [number, number]
  readonly constant?: number
}

/** Lines with their points, and bands from quartile to quartile. */
export function drawLines(chart: LineChart, width: number, name: string): Element[] {
  const points = chart.series.flatMap((series) => series.points)
  const height = Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.round(width * 0.5)))
  const [xs, ys] = [points.map(({ x }) => x), points.flatMap(({ y, low = y, high = y }) => [y, low, high])]
  const x = scaleOf(xs, chart.x.log === true, Math.floor(width / X_TICK_SPACE), true)
  const y = scaleOf(ys, chart.y.log === true, Math.floor(height / Y_TICK_SPACE), false)
  const marginLeft = Math.ceil(Math.max(...ys.map((value) => widthOf(tickText(Number(value.toPrecision(2))))), 24)) + 16
  const drawn = plot({
    width,
    height,
    marginLeft,
    marginRight: 16,
    marginTop: 12,
    marginBottom: 30,
    style: { fontSize: `${FONT_SIZE}px`, background: 'none', overflow: 'visible', fontFamily: 'inherit' },
    x: { ...scaleOptions(x), label: null },
    y: { ...scaleOptions(y), label: null, ...(y.type === 'linear' ? { zero: true, nice: true } : {}) },
    marks: marksOf(chart, x.ticks, y.ticks),
  })
  asImage(drawn, `Line plot of ${name}: ${chart.y.title} over ${chart.x.title}. The numbers are in the table below.`)
  return [seriesList(chart.series), words(`↑ ${titled(chart.y.title, y)}`), drawn, words(`${titled(chart.x.title, x)} →`, 'axis end')]
}

function marksOf({ series, steps }: LineChart, xTicks: number | number[], yTicks: number | number[]): Markish[] {
  const curve = steps ? 'step-after' : 'linear'
  const styled = seriesStyles(series).map((style, index) => ({ ...style, points: series[index]?.points ?? [] }))
  const axis = { text: tickText, tickSize: 4, label: null, color: 'var(--quiet)' } as const
  const banded = ({ low, high }: Point): boolean => low !== undefined && high !== undefined
  return [
    gridX({ ticks: xTicks, stroke: 'var(--line)', strokeOpacity: 1 }),
    gridY({ ticks: yTicks, stroke: 'var(--line)', strokeOpacity: 1 }),
    axisX({ ...axis, ticks: xTicks }),
    axisY({ ...axis, ticks: yTicks }),
    ...styled.flatMap(({ points, colour }) => {
      const band = points.filter(banded)
      return band.length < 2 ? [] : [areaY(band, { x: 'x', y1: 'low', y2: 'high', fill: colour, fillOpacity: 0.18, curve })]
    }),
    ...styled.flatMap(({ points, colour, dashes, width, symbol }) => [
      line(points, {
        x: 'x',
        y: 'y',
        stroke: colour,
        strokeWidth: width,
        curve,
        ...(dashes === undefined ? {} : { strokeDasharray: dashes }),
      }),
      ...(points.length > MAX_SYMBOLS ? [] : [dot(points, { x: 'x', y: 'y', r: 4, symbol, fill: colour, stroke: 'var(--card)' })]),
    ]),
  ]
}

/** A logarithmic axis that must show 0 is linear around it. */
function scaleOf(values: readonly number[], log: boolean, most: number, atValues: boolean): Scale {
  const distinct = [...new Set(values)].sort((one, other) => one - other)
  const [least = 0, greatest = 1] = [distinct[0], distinct.at(-1)]
  const ownTicks = atValues && log && distinct.length <= Math.min(most, MAX_VALUE_TICKS)
  if (!log) return { type: 'linear', ticks: atValues && areApart(distinct, (greatest - least) / most) ? distinct : most }
  const positive = distinct.find((value) => value > 0) ?? 1
  const domain: [number, number] = [Math.min(positive, greatest), greatest]
  const ticks = ownTicks ? distinct : logTicks(domain, most)
  if (least > 0) return { type: 'log', ticks, domain: least === greatest ? [least / 2, greatest * 2] : [least, greatest] }
  return { type: 'symlog', ticks: [...new Set([0, ...ticks])], domain: [least, greatest], constant: positive }
}

/**
 * Whether a tick at each measured value has room for its text. Ticks between the values would say nothing: between one process and two
 * nothing was measured.
 */
function areApart(values: readonly number[], least: number): boolean {
  return values.every((value, index) => index === 0 || value - (values[index - 1] as number) >= least)
}

function scaleOptions({ type, domain, constant }: Scale): { type: Scale['type']; domain?: [number, number]; constant?: number } {
  return { type, ...(domain === undefined ? {} : { domain }), ...(constant === undefined ? {} : { constant }) }
}

function titled(title: string, { type }: Scale): string {
  return type === 'linear' ? title : `${title} (logarithmic${type === 'symlog' ? ', linear near 0' : ''})`
}

function words(text: string, className: string = 'axis'): HTMLElement {
  const made = document.createElement('p')
  made.className = className
  made.textContent = text
  return made
}
