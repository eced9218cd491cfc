import { axisX, dot, gridX, link, plot, ruleX, ruleY, text, type Markish } from '@observablehq/plot'
import type { Dot, DotChart, Panel } from '../render/charts.ts'
import { asImage } from './image.ts'
import { colourOf, OPEN, SYMBOLS, withKind } from './kinds.ts'
import { FONT_SIZE, LINE_HEIGHT, logTicks, tickText, widthOf, wrapped } from './text.ts'

/** Pixels, as all sizes here. In a plot of at least this width names stand left of their dots, in a narrower one above them. */
const WIDE = 680
const MAX_NAME = 320
const GAP = 14
const TRACK = 20
const AXIS = 26
const RADIUS = 5.5
/** The space next to a track without names and values, for the half of an axis number that is outside the track. */
const EDGE = 18
const TICK_SPACE = 90
/** Free space at the ends of the axis, as a share of it. */
const ROOM = 0.03

/** Where names, dots and values of all panels are. */
interface Columns {
  readonly wide: boolean
  readonly width: number
  readonly nameWidth: number
  readonly left: number
  readonly right: number
}

interface Placed {
  readonly dot: Dot
  readonly name: string
  /** The upper edge of the name, and the middle of the dot. */
  readonly top: number
  readonly middle: number
}

/** A dot for each row with a bar from quartile to quartile, all panels on the same axis. */
export function drawDots(chart: DotChart, width: number, name: string): Element[] {
  const dots = chart.panels.flatMap((panel) => panel.dots)
  const label = labels(dots)
  const valueWidth = Math.ceil(Math.max(...dots.map((one) => widthOf(one.text))))
  const wide = width >= WIDE
  const nameWidth = wide ? Math.min(MAX_NAME, Math.ceil(Math.max(...dots.map((one) => widthOf(label(one)))))) : width - valueWidth - GAP
  const columns = {
    wide,
    width,
    nameWidth,
    left: wide ? nameWidth + GAP : EDGE,
    right: wide ? valueWidth + GAP : EDGE,
  }
  return [
    ...chart.panels.flatMap((panel) => {
      const title = panel.title === undefined ? [] : [paragraph('panel', panel.title)]
      return [...title, drawPanel(chart, panel, { columns, label, name: [name, panel.title ?? ''].filter(Boolean).join(', ') })]
    }),
    paragraph('axis', `${chart.axis}${chart.log ? ' (logarithmic)' : ''}`),
  ]
}

/** Names with the kind of row, unless all rows are of one kind. */
function labels(dots: readonly Dot[]): (dot: Dot) => string {
  const same = new Set(dots.map(({ kind }) => kind)).size === 1
  return ({ name, kind }) => (same ? name : withKind(name, kind))
}

interface Drawn {
  readonly columns: Columns
  readonly label: (dot: Dot) => string
  readonly name: string
}

function drawPanel(chart: DotChart, { dots }: Panel, { columns, label, name }: Drawn): Element {
  const { wide, width, nameWidth, left, right } = columns
  let y = 0
  const placed = dots.map((one): Placed => {
    const lines = wrapped(label(one), nameWidth)
    const words = lines.length * LINE_HEIGHT
    const height = wide ? Math.max(words + 8, 26) : words + TRACK + 6
    const at = {
      dot: one,
      name: lines.join('\n'),
      top: wide ? y + (height - words) / 2 : y,
      middle: wide ? y + height / 2 : y + words + TRACK / 2,
    }
    y += height
    return at
  })
  const domain = roomy(chart)
  const ticks = Math.max(2, Math.floor((width - left - right) / TICK_SPACE))
  const drawn = plot({
    width,
    height: y + AXIS,
    marginTop: 0,
    marginBottom: AXIS,
    marginLeft: left,
    marginRight: right,
    style: { fontSize: `${FONT_SIZE}px`, background: 'none', overflow: 'visible', fontFamily: 'inherit' },
    x: { type: chart.log ? 'log' : 'linear', domain, label: null },
    y: { type: 'identity', axis: null },
    marks: marksOf(chart, placed, columns, chart.log ? logTicks(domain, ticks) : ticks),
  })
  return asImage(drawn, `Dot plot of ${name}: ${chart.axis}. The numbers are in the table.`)
}

function marksOf(chart: DotChart, placed: readonly Placed[], { wide, left, right }: Columns, ticks: number | number[]): Markish[] {
  const all = [...placed]
  const drawn = all.filter(({ dot: { value } }) => value !== undefined)
  const bars = drawn.filter(({ dot: { low, high } }) => low !== undefined && high !== undefined)
  const stroke = ({ dot: { kind } }: Placed): string => colourOf(kind)
  const middle = ({ middle: y }: Placed): number => y
  const hollow = ({ dot: { kind, wrong } }: Placed): boolean => OPEN.has(kind) || wrong === true
  const words = { fill: 'var(--ink)', lineHeight: LINE_HEIGHT / FONT_SIZE, fontSize: FONT_SIZE }
  const edge = { y: wide ? middle : ({ top }: Placed) => top, lineAnchor: wide ? ('middle' as const) : ('top' as const) }
  return [
    gridX({ ticks, stroke: 'var(--line)', strokeOpacity: 1 }),
    axisX({ ticks, text: tickText, tickSize: 4, label: null, color: 'var(--quiet)' }),
    ruleY(all, { y: middle, stroke: 'var(--line)', strokeDasharray: '1 3' }),
    ...(chart.line === undefined ? [] : [ruleX([chart.line], { stroke: 'var(--quiet)', strokeWidth: 1.5 })]),
    link(bars, {
      x1: ({ dot: { low } }: Placed) => low,
      x2: ({ dot: { high } }: Placed) => high,
      y1: middle,
      y2: middle,
      stroke,
      strokeWidth: 5,
      strokeOpacity: 0.55,
      strokeLinecap: 'butt',
    }),
    dot(drawn, {
      x: ({ dot: { value } }: Placed) => value,
      y: middle,
      r: RADIUS,
      symbol: ({ dot: { kind } }: Placed) => SYMBOLS[kind],
      fill: (one: Placed) => (hollow(one) ? 'var(--card)' : colourOf(one.dot.kind)),
      stroke,
      strokeWidth: 2,
      title: ({ dot: { name, text: value } }: Placed) => `${name}: ${value}`,
    }),
    text(all, {
      ...words,
      text: 'name',
      frameAnchor: 'left',
      dx: -left,
      textAnchor: 'start',
      y: ({ top }: Placed) => top,
      lineAnchor: 'top',
    }),
    text(all, { ...words, ...edge, text: ({ dot: { text: value } }: Placed) => value, frameAnchor: 'right', dx: right, textAnchor: 'end' }),
  ]
}

/** The domain with some room beyond the greatest and the least value. */
function roomy({ domain: [least, greatest], log }: DotChart): [number, number] {
  if (log) {
    const factor = (greatest / least) ** ROOM
    return [least / factor, greatest * factor]
  }
  const room = (greatest - least || 1) * ROOM
  return [least === 0 ? 0 : least - room, greatest + room]
}

function paragraph(className: string, words: string): HTMLElement {
  const made = document.createElement('p')
  made.className = className
  made.textContent = words
  return made
}
