/** A fenced block of a Markdown text, with the options of its info string. */
export interface Fence {
  /** The line of the opening mark, counted from 1. */
  readonly line: number
  readonly language: string
  /** The text of the block, without the indentation of the fence. */
  readonly text: string
  /** The reason why the fence is not run. */
  readonly noRun?: string
  /** The expected exit code of its last command, if that is not 0. */
  readonly exit?: number
  /** The name under which its text is saved, for the fences after it. */
  readonly file?: string
  /** Set if its text is the expected output of the fence before it. */
  readonly output?: true
}

export interface Problem {
  readonly line: number
  readonly text: string
}

export interface Fences {
  readonly fences: readonly Fence[]
  readonly problems: readonly Problem[]
}

const OPENING = /^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$/
const LIST_ITEM = /^[ \t]*(?:[-*+]|\d+[.)])[ \t]/
const INDENTED_CODE = /^(?: {4}|\t)/

/**
 * The fences of a Markdown text. Problems are a fence that is not closed or has no language, and code that is indented instead of fenced.
 */
export function fencesOf(markdown: string): Fences {
  const lines = markdown.split(/\r?\n/)
  const fences: Fence[] = []
  const problems: Problem[] = []
  let inList = false
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string
    const opening = OPENING.exec(line)
    if (opening === null) {
      if (LIST_ITEM.test(line)) inList = true
      else if (/^\S/.test(line)) inList = false
      else if (!inList && INDENTED_CODE.test(line) && line.trim() !== '' && (lines[at - 1] ?? '').trim() === '') {
        problems.push({ line: at + 1, text: 'code that is only indented is not run: put it into a fence that names its language' })
      }
      continue
    }
    const [, indentation = '', mark = '', info = ''] = opening
    const end = closing(lines, at + 1, mark)
    if (end === -1) return { fences, problems: [...problems, { line: at + 1, text: 'the fence is not closed' }] }
    const body = lines.slice(at + 1, end).map((text) => (text.startsWith(indentation) ? text.slice(indentation.length) : text.trimStart()))
    const read = readInfo(info.trim())
    if (typeof read === 'string') problems.push({ line: at + 1, text: read })
    else fences.push({ line: at + 1, text: body.map((text) => `${text}\n`).join(''), ...read })
    at = end
  }
  return { fences, problems }
}

function closing(lines: readonly string[], from: number, mark: string): number {
  return lines.findIndex((line, index) => {
    const text = line.trim()
    return index >= from && text.length >= mark.length && text === (mark[0] as string).repeat(text.length)
  })
}

/** Parses an info string: `LANGUAGE [output] [exit=N] [file=NAME] [no-run: REASON]`. Returns the problem as a text if it is wrong. */
function readInfo(info: string): Omit<Fence, 'line' | 'text'> | string {
  if (info === '') return 'the fence has no info string: name its language, or text'
  const [, before = '', noRun] = /^(.*?)(?:\bno-run:?\s*(.*))?$/.exec(info) as RegExpExecArray
  if (noRun === '') return 'no-run says why: no-run: REASON'
  const [language = '', ...words] = before.trim().split(/\s+/)
  let fence: Omit<Fence, 'line' | 'text'> = noRun === undefined ? { language } : { language, noRun }
  for (const word of words) {
    const [, name, value = ''] = /^(exit|file)=(.+)$/.exec(word) ?? []
    if (word === 'output' && language === 'text') fence = { ...fence, output: true }
    else if (name === 'exit' && /^\d{1,3}$/.test(value)) fence = { ...fence, exit: Number(value) }
    else if (name === 'file' && /^[\w-][\w.-]*$/.test(value)) fence = { ...fence, file: value }
    else return `the info string says ${word}: allowed are output (of text), exit=N, file=NAME and no-run: REASON`
  }
  return fence
}
