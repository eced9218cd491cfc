/** Pixels. */
export const FONT_SIZE = 13
export const LINE_HEIGHT = 17

const context = document.createElement('canvas').getContext('2d')
// The font is read only once, because reading a style after a change of the page makes the browser lay out the page.
if (context !== null) context.font = `${FONT_SIZE}px ${getComputedStyle(document.body).fontFamily}`

/** Pixels of a text in the font of the plots. */
export function widthOf(text: string): number {
  return context?.measureText(text).width ?? text.length * FONT_SIZE * 0.6
}

/** Splits a text into lines of at most `width` pixels. A word that is longer is broken. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => brokenWord(one, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function brokenWord(word: string, width: number): string[] {
  if (widthOf(word) <= width || word.length < 2) return [word]
  let end = word.length
  while (end > 1 && widthOf(word.slice(0, end)) > width) end -= 1
  return [word.slice(0, end), ...brokenWord(word.slice(end), width)]
}

const plain = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** A number at an axis: `0.05`, `2,500`, `20K`. */
export function tickText(value: number): string {
  return Math.abs(value) >= 10_000 ? compact.format(value) : plain.format(value)
}

/** Ticks of a logarithmic axis, at most `most`: powers of ten, or these times 1, 2 and 5; even steps if it spans less than that. */
export function logTicks([least, greatest]: readonly [number, number], most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(greatest))]
  const powers = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
  const within = (ticks: number[]): number[] => ticks.filter((tick) => tick >= least * 0.999 && tick <= greatest * 1.001)
  const fine = within(powers.flatMap((power) => [1, 2, 5].map((times) => Number((times * power).toPrecision(1)))))
  if (fine.length < MIN_TICKS) return evenTicks(least, greatest, most)
  if (fine.length <= most) return fine
  const coarse = within(powers.map((power) => Number(power.toPrecision(1))))
  const step = Math.ceil(coarse.length / most)
  return coarse.filter((_, index) => index % step === 0)
}

/** With fewer ticks nobody could read an axis. */
const MIN_TICKS = 3

/** Multiples of 1, 2 or 5 times a power of ten, with steps so large that at most `most` of them are between the two values. */
function evenTicks(least: number, greatest: number, most: number): number[] {
  const enough = (greatest - least) / Math.max(1, most - 1)
  const power = 10 ** Math.floor(Math.log10(enough))
  const step = ([1, 2, 5].find((times) => times * power >= enough) ?? 10) * power
  const first = Math.ceil(least / step)
  const ticks = Array.from({ length: most + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6)))
  return ticks.filter((tick) => tick <= greatest)
}
