import { join } from 'node:path'

const INCLUDE = /^-- include: (\S+)$/
const INLINE = /^ *-- inline: (\S+)$/
const MODULES = /^ *-- modules$/
const MAKE = /\bmake(?: |\()'([\w-]+)'/g
/** A line that will be replaced by the text of a file. */
const FILE = /^--@ (\S+)$/

/** The allowed beginnings of a line in an included file: those of definitions, of comments, and of the further lines of a definition. */
const DEFINES = /^(?:$| |--|local |\}|end$)/

/** A part of a program: a text that only this program has, or the text of a file that other programs may have too. */
export type LuaPart = string | { readonly file: string; readonly text: string }

/** The text of a program that has these parts. */
export function textOf(parts: readonly LuaPart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')
}

/**
 * The parts of a Lua program, in order. A file is in it only once, even if several files require it.
 *
 * - `-- include: FILE`, at the top of a file: the local definitions of FILE come before the code. Each call of the program executes them.
 * - `make 'NAME'`: what NAME.lua returns. Such files are the branches of one function, `make`, which is at the line `-- modules`, and cost
 *   nothing until they are called. Each call makes their functions anew; arguments after the name are the file's `...`.
 * - `-- inline: FILE`: the text of the file, for code that runs so often that a function call would cost too much.
 * @throws Error that names the file and line where these rules are broken, or the files that require each other in a circle
 */
export function luaProgram(folder: string, file: string, read: (path: string) => string): LuaPart[] {
  const source = (name: string): string => read(join(folder, name))
  const texts = new Map<string, string>()
  const placed = new Set([file])
  const text = withInlined(file, withIncluded(file, source, placed, texts, [file]), source, placed, texts)
  const modules = modulesOf(file, [text, ...texts.values()].join('\n'), source, placed)
  const lines = text.split('\n')
  const at = lines.findIndex((line) => MODULES.test(line))
  if (at === -1 && modules.size > 0) throw new Error(`${file}: it makes ${[...modules.keys()].join(', ')}, and has no line "-- modules"`)
  if (at !== -1 && modules.size === 0) throw new Error(`${file}:${at + 1}: "-- modules", and nothing is made`)
  if (at !== -1) lines[at] = makeOf([...modules.keys()])
  for (const [name, module] of modules) texts.set(`${name}.lua`, module)
  return partsOf(lines, texts)
}

/** Splits the lines into parts. Adjacent lines that belong to no file are one part. */
function partsOf(lines: readonly string[], texts: ReadonlyMap<string, string>): LuaPart[] {
  const parts: LuaPart[] = []
  let own: string[] = []
  const end = (): void => {
    const text = own.join('\n')
    if (text.trim() !== '') parts.push(`${text}\n`)
    own = []
  }
  for (const line of lines.flatMap((text) => text.split('\n'))) {
    const file = FILE.exec(line)?.[1]
    if (file === undefined) own.push(line)
    else {
      end()
      parts.push({ file, text: texts.get(file) as string })
    }
  }
  end()
  return parts
}

/** Replaces the includes of a file. They must be above the first line of code, and an included file may contain only definitions. */
function withIncluded(
  file: string,
  source: (name: string) => string,
  placed: Set<string>,
  texts: Map<string, string>,
  way: readonly string[],
): string {
  const lines = source(file).split('\n')
  const code = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('--'))
  return lines
    .map((line, index) => {
      if (!line.includes('-- include:')) return line
      const other = INCLUDE.exec(line)?.[1]
      if (other === undefined || (code !== -1 && index > code)) {
        throw new Error(`${file}:${index + 1}: an include is at the top of its file, before all code`)
      }
      refuseCircle(way, other)
      if (placed.has(other)) return ''
      placed.add(other)
      const text = withIncluded(other, source, placed, texts, [...way, other])
      const stray = text.split('\n').find((one) => !DEFINES.test(one))
      if (stray !== undefined)
        throw new Error(`${other}: an included file has nothing but local definitions at its top level, not: ${stray}`)
      const own = text.split('\n').filter((one) => !FILE.test(one))
      texts.set(other, own.join('\n'))
      return [...text.split('\n').filter((one) => FILE.test(one)), `--@ ${other}`].join('\n')
    })
    .join('\n')
}

function withInlined(
  file: string,
  text: string,
  source: (name: string) => string,
  placed: Set<string>,
  texts: Map<string, string>,
): string {
  return text
    .split('\n')
    .map((line) => {
      const other = INLINE.exec(line)?.[1]
      if (other === undefined) return line
      if (placed.has(other)) throw new Error(`${file}: ${other} is inlined twice: make it a function`)
      placed.add(other)
      texts.set(other, source(other))
      return `--@ ${other}`
    })
    .join('\n')
}

/** The files that the program makes, and those that these files make in turn: by name, in the order in which they are found. */
function modulesOf(file: string, text: string, source: (name: string) => string, placed: ReadonlySet<string>): Map<string, string> {
  const modules = new Map<string, string>()
  const collect = (from: string, way: readonly string[]): void => {
    for (const [, name = ''] of from.matchAll(MAKE)) {
      const other = `${name}.lua`
      refuseCircle(way, other)
      if (modules.has(name)) continue
      if (placed.has(other)) throw new Error(`${way.at(-1)}: ${other} is made, and is in ${file} already`)
      const module = source(other)
      modules.set(name, moduleText(other, module))
      collect(module, [...way, other])
    }
  }
  collect(text, [file])
  return modules
}

/** Checks a file for `make`: it must end with `return`, and may require other files only by `make`. */
function moduleText(file: string, text: string): string {
  const lines = text.split('\n')
  const foreign = lines.findIndex((line) => /^ *-- (?:include|inline|modules)\b/.test(line))
  if (foreign !== -1) throw new Error(`${file}:${foreign + 1}: a file that is made has no includes, it makes what it needs`)
  if (lines.filter((line) => /^return\b/.test(line)).length !== 1) {
    throw new Error(`${file}: a file that is made ends with one "return", of what it defines`)
  }
  return text
}

function makeOf(names: readonly string[]): string {
  const branches = names.map((name, index) => `${index === 0 ? 'if' : 'elseif'} file == '${name}' then\n--@ ${name}.lua`)
  return `local function make(file, ...)\n${branches.join('\n')}\nend\nend`
}

function refuseCircle(way: readonly string[], other: string): void {
  const at = way.indexOf(other)
  if (at !== -1) throw new Error(`${[...way.slice(at), other].join(' needs ')}: a circle`)
}
