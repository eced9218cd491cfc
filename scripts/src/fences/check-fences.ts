import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../engines/index.ts'
import { type Finding, findingOf } from '../finding.ts'
import { filesBelow } from '../source-files.ts'
import { type Addresses, type EngineName, portsIn, withAddresses, withNamedPorts } from './addresses.ts'
import { compile } from './compile.ts'
import { type Engines, startEngines } from './engines.ts'
import { looksLike } from './output.ts'
import { type Ran, runSteps } from './shell.ts'
import { type Page, type Plan, planOf, type Step } from './steps.ts'
import { copyWorkspace, type Workspace } from './workspace.ts'

/** The most lines of a step's output that a problem shows. */
const SHOWN = 15
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Document {
  readonly name: string
  readonly plan: Plan
  readonly addresses: Addresses
}

/**
 * Runs every fenced block of every document as it is written. Programs are compiled and run with the built packages. Commands run in a copy
 * of the repository. Policies are checked by `sluice check`.
 * @param root where the documents are
 * @param repository the built repository that the documents describe
 */
export async function checkFences(root: string, repository: string = root): Promise<Finding> {
  const texts = filesBelow(root)
    .filter((file) => file.endsWith('.md') && !file.includes('/fixtures/'))
    .map((name) => ({ name, plan: planOf(name, readFileSync(join(root, name), 'utf8')) }))
    .filter(({ plan }) => plan.steps.length + plan.programs.length + plan.pages.length + plan.problems.length + plan.read > 0)
  const engines = await startEngines(new Set(texts.flatMap(({ plan }) => plan.steps.flatMap(({ needs }) => needs))))
  const workspace = copyWorkspace(repository)
  // Processes in the background have a process group of their own, so a signal to this group does not reach them. They are ended at exit.
  const interrupt = (): never => process.exit(130)
  for (const signal of SIGNALS) process.once(signal, interrupt)
  process.once('exit', workspace.remove)
  try {
    const documents: Document[] = []
    for (const text of texts) documents.push({ ...text, addresses: await addressesOf(text.plan, engines) })
    const programs = documents.flatMap(({ plan, addresses }) => plan.programs.map((page) => settled(page, addresses)))
    const uncompiled = compile(workspace, programs)
    const ran: Outcome[] = []
    for (const document of documents) ran.push(await run(document, engines, workspace))
    const misread = documents.flatMap(({ name, plan }) => plan.problems.map(({ line, text }) => `${name}:${line}: ${text}`))
    const problems = [...misread, ...uncompiled, ...ran.flatMap((outcome) => outcome.problems)]
    return problems.length > 0 ? findingOf(problems) : { ok: true, text: summary(documents, ran) }
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
    process.off('exit', workspace.remove)
    workspace.remove()
    await engines.stop()
  }
}

interface Outcome {
  readonly problems: readonly string[]
  readonly ran: number
  readonly skipped: readonly string[]
}

async function run({ name, plan, addresses }: Document, engines: Engines, workspace: Workspace): Promise<Outcome> {
  const lacks = ({ needs }: Step): EngineName | undefined => needs.find((engine) => !engines.urls.has(engine))
  const steps = plan.steps.filter((step) => lacks(step) === undefined)
  const lacking = plan.steps.flatMap((step) => {
    const engine = lacks(step)
    return engine === undefined ? [] : [{ engine, text: `${name}:${step.line}: ${engine}: ${engines.missing.get(engine)}` }]
  })
  const required = (process.env['SLUICE_REQUIRE'] ?? '').split(',')
  const refused = lacking.filter(({ engine }) => required.includes(engine)).map(({ text }) => text)
  const skipped = lacking.map(({ text }) => text)
  for (const page of plan.pages.map((written) => settled(written, addresses))) workspace.write(page.name, page.text)
  if (steps.length === 0) return { problems: refused, ran: 0, skipped }
  const scripts = steps.map(({ script }) => withAddresses(script, addresses))
  const port = [...addresses.ports.values()][0] ?? (await freePort())
  const results = await runSteps(workspace, name, scripts, { PORT: String(port) })
  const problems = steps.flatMap((step, index) => {
    const result = results[index] as Ran
    const shown = withNamedPorts(result.output, addresses).replaceAll(workspace.root, '.')
    const problem = problemOf(step, result, shown, results[index - 1]?.ended ?? true)
    return problem === undefined ? [] : [`${name}:${problem}`]
  })
  return { problems: [...refused, ...problems], ran: steps.length, skipped }
}

/** The problem of a step as `LINE: what went wrong`; undefined without one. */
function problemOf(step: Step, { failures, ended }: Ran, shown: string, begun: boolean): string | undefined {
  if (!begun) return undefined
  if (!ended) return `${step.line}: did not end, or ended the shell\n${excerpt(shown)}`
  const wrong = failures.find(({ code }) => code !== step.exit)
  if (wrong !== undefined) return `${lineOf(step, wrong.line, shown)}: exit code ${wrong.code}\n${excerpt(shown)}`
  if (step.exit !== 0 && failures.length === 0) return `${step.line}: exit code 0, said to be ${step.exit}\n${excerpt(shown)}`
  if (step.expected === undefined || looksLike(step.expected.text, shown)) return undefined
  return `${step.expected.line}: is not what was printed:\n${excerpt(shown)}`
}

/** The line of a failure. The output of a program or a policy check names it; otherwise it is the line of the command. */
function lineOf(step: Step, line: number, shown: string): number {
  const thrown = /\/L\d+\.(?:ts|js|yaml|json):(\d+)/.exec(shown)?.[1]
  if (thrown !== undefined) return Number(thrown)
  return Math.max(line, step.line)
}

function excerpt(shown: string): string {
  const lines = shown.trimEnd().split('\n')
  const rest = lines.length > SHOWN ? [`... ${lines.length - SHOWN} lines more`] : []
  return [...lines.slice(0, SHOWN), ...rest].map((line) => `    ${line}`).join('\n')
}

function settled(page: Page, addresses: Addresses): Page {
  return { name: page.name, text: withAddresses(page.text, addresses) }
}

/** A free port for each port that the document names, so that the named ports need not be free. */
async function addressesOf(plan: Plan, engines: Engines): Promise<Addresses> {
  const texts = [...plan.steps.map(({ script }) => script), ...plan.programs.map(({ text }) => text), ...plan.pages.map(({ text }) => text)]
  const ports = new Map<number, number>()
  for (const port of portsIn(texts.join('\n'))) ports.set(port, await freePort())
  return { engines: engines.urls, ports }
}

function summary(documents: readonly Document[], ran: readonly Outcome[]): string {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const skipped = ran.flatMap((outcome) => outcome.skipped)
  const counts = `${documents.length} documents: ${sum(ran.map((outcome) => outcome.ran))} fences and commands run`
  const checked = sum(documents.map(({ plan }) => plan.read))
  const rest = skipped.length > 0 ? `\nskipped:\n${skipped.join('\n')}` : ''
  return `${counts}, ${sum(documents.map(({ plan }) => plan.programs.length))} programs type-checked, ${checked} read only${rest}`
}
