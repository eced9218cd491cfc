import { parse as parseYaml } from 'yaml'
import { enginesIn, type EngineName } from './addresses.ts'
import { type Fence, fencesOf, type Problem } from './fence.ts'

/** What is run for one fence, or for one command of a console fence. */
export interface Step {
  readonly line: number
  /** A script for bash. Empty lines before it give its lines the numbers that they have in the document. */
  readonly script: string
  readonly exit: number
  readonly expected?: { readonly line: number; readonly text: string }
  /** The step is skipped if one of these engines is missing. */
  readonly needs: readonly EngineName[]
}

/** A text that is written to a file before the steps run. It is padded like a script. */
export interface Page {
  readonly name: string
  readonly text: string
}

export interface Plan {
  readonly steps: readonly Step[]
  /** Programs. They are compiled together with the programs of all documents. */
  readonly programs: readonly Page[]
  readonly pages: readonly Page[]
  readonly problems: readonly Problem[]
  /** The number of fences that are not run: marked so, or in a language that nothing here runs. */
  readonly read: number
}

/** Languages that nothing here runs or parses. */
const READ_ONLY: ReadonlySet<string> = new Set(
  'text nginx http diff caddyfile toml ini sql lua html css mermaid promql dockerfile'.split(' '),
)
const RUN: readonly string[] = ['ts', 'js', 'sh', 'console', 'yaml', 'json']
/** The top-level field of each of the three dialects of a policy. */
const POLICY = /^(?:rules|rate_limits|policies)$/

/** Plans the steps for the fences of a document, in their order. */
export function planOf(document: string, markdown: string): Plan {
  const { fences, problems: misread } = fencesOf(markdown)
  const problems = [...misread]
  const steps: Step[] = []
  const programs: Page[] = []
  const pages: Page[] = []
  let read = 0
  /** The index of the step whose expected output may follow: the last step of the fence directly before. */
  let printer: number | undefined
  for (const fence of fences) {
    if (fence.output === true) {
      const before = printer === undefined ? undefined : steps[printer]
      if (before === undefined)
        problems.push({ line: fence.line, text: 'an output follows right after the fence that prints it, which is run' })
      else steps[printer as number] = { ...before, expected: { line: fence.line, text: fence.text } }
      printer = undefined
      continue
    }
    const part = partOf(document, fence)
    if (part.problem !== undefined) problems.push({ line: fence.line, text: part.problem })
    if (part.program !== undefined) programs.push(part.program)
    if (part.page !== undefined) pages.push(part.page)
    if (part.steps === undefined && part.problem === undefined) read += 1
    steps.push(...(part.steps ?? []))
    printer = part.steps === undefined || fence.language === 'console' ? undefined : steps.length - 1
  }
  return { steps, programs, pages, problems, read }
}

/** What one fence adds to a plan. A fence without steps is not run. */
interface Part {
  readonly steps?: readonly Step[]
  readonly program?: Page
  readonly page?: Page
  readonly problem?: string
}

function partOf(document: string, fence: Fence): Part {
  const { language, line, noRun, file } = fence
  const page = { name: `${document}/L${line}.${language}`, text: padded(fence) }
  const needs = enginesIn(fence.text)
  const step = (script: string, needed: readonly EngineName[] = needs): Step => ({ line, script, exit: fence.exit ?? 0, needs: needed })
  switch (language) {
    case 'ts':
    case 'js': {
      const run = { steps: [step(`program "$FENCES/out/${document}/L${line}.js"\n`)] }
      return { program: page, ...(noRun === undefined ? run : {}) }
    }
    case 'sh':
      // A script that is not run must at least have a valid syntax.
      return noRun === undefined ? { steps: [step(page.text)] } : { page, steps: [step(`bash -n "$FENCES/${page.name}"\n`, [])] }
    case 'console': {
      const commands = commandsOf(fence, needs)
      if (commands.length === 0) return { problem: 'a console fence has lines that begin with "$ ", the commands' }
      return noRun === undefined ? { steps: commands } : {}
    }
    case 'yaml':
    case 'json': {
      const value = parsed(fence)
      if ('problem' in value) return value
      const checks = noRun === undefined && isPolicy(value.value) ? [`sluice check "$FENCES/${page.name}"\n`] : []
      const keeps = file === undefined ? [] : [`cp "$FENCES/${page.name}" ${file}\n`]
      if (checks.length + keeps.length === 0) return {}
      // Checking a policy needs no server, even if the policy names a store. Steps that use the policy name their engines themselves.
      return { page, steps: [step([...keeps, ...checks].join(''), [])] }
    }
    default:
      if (!READ_ONLY.has(language)) return { problem: `${language} is no language of a fence here: ${[...RUN, ...READ_ONLY].join(', ')}` }
      return file === undefined ? {} : { page, steps: [step(`tail -n +${line + 1} "$FENCES/${page.name}" > ${file}\n`, [])] }
  }
}

function padded({ line, text }: Pick<Fence, 'line' | 'text'>): string {
  return '\n'.repeat(line) + text
}

/**
 * The commands of a console fence. A line that begins with `$ ` is a command, and a line that begins with `> ` continues it. All other
 * lines are the expected output.
 */
function commandsOf(fence: Fence, needs: readonly EngineName[]): Step[] {
  const commands: { line: number; command: string[]; printed: string[] }[] = []
  fence.text.split('\n').forEach((text, index) => {
    const last = commands.at(-1)
    if (text.startsWith('$ ')) commands.push({ line: fence.line + 1 + index, command: [text.slice(2)], printed: [] })
    else if (text.startsWith('> ') && last?.printed.length === 0) last.command.push(text.slice(2))
    else last?.printed.push(text)
  })
  return commands.map(({ line, command, printed }, index) => ({
    line,
    script: padded({ line: line - 1, text: `${command.join('\n')}\n` }),
    exit: index === commands.length - 1 ? (fence.exit ?? 0) : 0,
    needs,
    ...(printed.join('').trim() === '' ? {} : { expected: { line: line + command.length, text: printed.join('\n') } }),
  }))
}

function parsed({ language, text }: Fence): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: language === 'json' ? (JSON.parse(text) as unknown) : (parseYaml(text) as unknown) }
  } catch (error) {
    return { problem: `no ${language}: ${(error as Error).message.split('\n')[0] ?? ''}` }
  }
}

function isPolicy(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => POLICY.test(key))
}
