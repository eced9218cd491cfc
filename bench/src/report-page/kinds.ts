import { dot, line, plot, type SymbolType } from '@observablehq/plot'
import type { Dot } from '../render/charts.ts'
import { asImage } from './image.ts'

export type Kind = Dot['kind']

/** How rows are drawn: a symbol for each kind, so that nobody needs to see its colour. */
export const SYMBOLS: Readonly<Record<Kind, SymbolType>> = {
  ours: 'circle',
  baseline: 'diamond',
  peer: 'square',
  floor: 'triangle',
  quoted: 'times',
  computed: 'plus',
}

const WORDS: Readonly<Record<Kind, string>> = {
  ours: 'ours',
  baseline: 'baseline of the ratios',
  peer: 'another library or way',
  floor: 'floor: no limiter could pass it',
  quoted: 'quoted from the document',
  computed: 'computed, not measured',
}

/** Symbols of strokes alone, which have no area to fill. */
export const OPEN: ReadonlySet<Kind> = new Set(['quoted', 'computed'])

export function colourOf(kind: Kind): string {
  return `var(--${kind})`
}

/** The symbols of the dot plots with their meaning. */
export function kindList(): HTMLElement {
  return list(
    (Object.keys(SYMBOLS) as Kind[]).map((kind) => {
      const paint = OPEN.has(kind) ? { stroke: colourOf(kind), strokeWidth: 2.5 } : { fill: colourOf(kind) }
      return [sample([dot([[0, 0]], { symbol: SYMBOLS[kind], r: 5.5, ...paint })]), WORDS[kind]]
    }),
  )
}

/** Series of a line plot differ by colour, symbol and dashes. */
export interface SeriesStyle {
  readonly colour: string
  readonly symbol: SymbolType
  readonly dashes?: string
  readonly width: number
}

const COLOURS = 8
const SERIES_SYMBOLS: readonly SymbolType[] = ['circle', 'square', 'triangle', 'diamond', 'star', 'wye', 'hexagon']
const DASHES: readonly (string | undefined)[] = [undefined, '7 3', '2 3', '9 3 2 3']

/** The styles of series in their order. Those of ours come first, so that they look alike in all plots. */
export function seriesStyles(series: readonly { readonly kind: Kind }[]): SeriesStyle[] {
  const ours = series.filter(({ kind }) => kind === 'ours')
  const turns = [...ours, ...series.filter((one) => !ours.includes(one))]
  return series.map((one) => styleOf(one.kind, turns.indexOf(one)))
}

function styleOf(kind: Kind, index: number): SeriesStyle {
  const dashes = kind === 'ours' ? undefined : DASHES[index % DASHES.length]
  return {
    colour: `var(--series-${index % COLOURS})`,
    symbol: SERIES_SYMBOLS[index % SERIES_SYMBOLS.length],
    ...(dashes === undefined ? {} : { dashes }),
    width: kind === 'ours' ? 2.5 : 1.5,
  }
}

/** The series of a line plot with their samples. */
export function seriesList(series: readonly { readonly name: string; readonly kind: Kind }[]): HTMLElement {
  const styles = seriesStyles(series)
  return list(
    series.map(({ name, kind }, index) => {
      const { colour, symbol, dashes, width } = styles[index] as SeriesStyle
      const ends = [
        [-1, 0],
        [1, 0],
      ] as const
      const stroke = { stroke: colour, strokeWidth: width, ...(dashes === undefined ? {} : { strokeDasharray: dashes }) }
      return [sample([line(ends, stroke), dot([[0, 0]], { symbol, r: 4, fill: colour })], 44), withKind(name, kind)]
    }),
  )
}

/** A name with its kind in words; that of other libraries is not mentioned. */
export function withKind(name: string, kind: Kind): string {
  return kind === 'peer' || name.toLowerCase().includes(kind) ? name : `${name} (${kind})`
}

function list(entries: readonly (readonly [Element, string])[]): HTMLElement {
  const made = document.createElement('ul')
  made.className = 'legend'
  made.append(
    ...entries.map(([drawn, text]) => {
      const item = document.createElement('li')
      item.append(drawn, text)
      return item
    }),
  )
  return made
}

function sample(marks: NonNullable<Parameters<typeof plot>[0]>['marks'], width: number = 18): Element {
  const scale = { domain: [-1, 1], axis: null }
  const drawn = plot({ width, height: 16, margin: 1, x: scale, y: scale, ...(marks === undefined ? {} : { marks }) })
  asImage(drawn, '').setAttribute('aria-hidden', 'true')
  return drawn
}
