/** Further label values are counted together, so that no client can fill the memory. */
export const MAX_SERIES = 1_000
const MAX_VALUE_LENGTH = 256
const OTHER = 'other'

export interface Series<Cell> {
  /** @param values one for each label, in the labels' order */
  at(...values: readonly string[]): Cell
  each(visit: (labels: string, cell: Cell) => void): void
}

type Branch<Cell> = Map<string, Branch<Cell> | Cell>

export function createSeries<Cell extends object>(labels: readonly string[], make: () => Cell): Series<Cell> {
  const root: Branch<Cell> = new Map()
  const cells = new Map<string, Cell>()
  const last = labels.length - 1

  const create = (branch: Branch<Cell>, values: readonly string[]): Cell => {
    const full = cells.size >= MAX_SERIES
    const text = labelsText(labels.map((label, index) => [label, full ? OTHER : (values[index] as string)]))
    const known = cells.get(text)
    const cell = known ?? make()
    cells.set(text, cell)
    if (!full) branch.set(short(values[last] as string), cell)
    return cell
  }
  const full = (): Cell => create(root, [])
  return {
    at(...values) {
      let branch = root
      for (let index = 0; index < last; index += 1) {
        const value = short(values[index] as string)
        let next = branch.get(value) as Branch<Cell> | undefined
        if (next === undefined) {
          if (cells.size >= MAX_SERIES) return full()
          next = new Map()
          branch.set(value, next)
        }
        branch = next
      }
      return (branch.get(short(values[last] as string)) as Cell | undefined) ?? create(branch, values)
    },
    each(visit) {
      for (const [text, cell] of cells) visit(text, cell)
    },
  }
}

/** `a="x",b="y"`, in the text format of Prometheus. */
export function labelsText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}="${escape(value)}"`).join(',')
}

function escape(value: string): string {
  return short(value).replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

function short(value: string): string {
  return value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}...` : value
}
