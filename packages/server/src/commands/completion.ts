import { usage } from '../cli/failure.ts'
import { type Flag, flagsOf, nameOfWord } from '../cli/flags.ts'
import type { Verb } from '../cli/verb.ts'

interface Offered {
  readonly name: string
  readonly does: string
  readonly flags: readonly Flag[]
  /** Allowed values of the first argument; empty if any is allowed. */
  readonly choices: readonly string[]
  /** Whether the arguments are names of files. */
  readonly files: boolean
}

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** @param verbs all other verbs */
export function completionVerb(verbs: readonly Verb[]): Verb {
  const verb: Verb = {
    name: 'completion',
    words: ['SHELL'],
    choices: SHELLS,
    does: `prints the completion of verbs, flags and files for ${SHELLS.join(', ')}`,
    flags: {},
    examples: ['completion bash > /etc/bash_completion.d/sluice', 'completion fish > ~/.config/fish/completions/sluice.fish'],
    run(args, io) {
      const offered = [...verbs, verb].map(offeredOf)
      const [shell] = args.words
      if (shell === 'bash') return io.out(bash(offered))
      if (shell === 'zsh') return io.out(zsh(offered))
      if (shell === 'fish') return io.out(fish(offered))
      throw usage(`completion: ${JSON.stringify(shell)} is not a shell that it knows: expected ${SHELLS.join(', ')}`)
    },
  }
  return verb
}

function offeredOf({ name, does, words, flags, choices = [] }: Verb): Offered {
  const first = nameOfWord(words[0] ?? '')
  return { name, does: does.split(/[:;,]/, 1)[0] as string, flags: flagsOf({ flags }), choices, files: first === 'POLICY' }
}

const takesFile = ({ value }: Flag): boolean => value === 'FILE'
const flagNames = (flags: readonly Flag[]): string => [...flags, { name: 'help' }].map(({ name }) => `--${name}`).join(' ')

function bash(verbs: readonly Offered[]): string {
  const names = verbs.map(({ name }) => name).join(' ')
  const cases = verbs.map(({ name, flags, choices, files }) => {
    return `    ${name}) flags='${flagNames(flags)}' words='${choices.join(' ')}' files=${files ? 'yes' : ''} ;;`
  })
  return `# bash completion of sluice: sluice completion bash
_sluice() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags='' words='' files=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names} help --help --version' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) words='${names}' ;;
  esac
  case $before in
    ${bashPattern(verbs, takesFile)}) COMPREPLY=($(compgen -f -- "$word")); return ;;
    ${bashPattern(verbs, (flag) => flag.value !== '' && !takesFile(flag))}) return ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ -n "$files" ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -o filenames -F _sluice sluice
`
}

function bashPattern(verbs: readonly Offered[], test: (flag: Flag) => boolean): string {
  return [...new Set(verbs.flatMap(({ flags }) => flags.filter(test).map(({ name }) => `--${name}`)))].join('|')
}

function zsh(verbs: readonly Offered[]): string {
  const cases = verbs.map((verb) => `        ${verb.name}) _arguments ${[...verb.flags.map(zshFlag), zshWords(verb)].join(' ')} ;;`)
  return `#compdef sluice
# zsh completion of sluice: sluice completion zsh
_sluice() {
  local -a verbs
  verbs=(${verbs.map(({ name, does }) => quoted(`${name}:${does}`)).join(' ')})
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $verb in
${cases.join('\n')}
        help) _describe verb verbs ;;
  esac
}
if [ "$funcstack[1]" = _sluice ]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`
}

/** For zsh's `_arguments`: `--store[what it does]:URL:`. A leading star lets the flag be repeated. */
function zshFlag(flag: Flag): string {
  const does = flag.does.replaceAll(/[[\]:\\]/g, String.raw`\$&`)
  const value = flag.value === '' ? '' : `:${flag.value.replaceAll(':', String.raw`\:`)}:${takesFile(flag) ? '_files' : ''}`
  return quoted(`${flag.repeats ? '*' : ''}--${flag.name}[${does}]${value}`)
}

function zshWords({ choices, files }: Offered): string {
  return quoted(choices.length > 0 ? `1:word:(${choices.join(' ')})` : files ? '*:file:_files' : '*:word:')
}

function fish(verbs: readonly Offered[]): string {
  const names = verbs.map(({ name }) => name).join(' ')
  const lines = verbs.flatMap(({ name, does, flags, choices, files }) => {
    const here = `complete -c sluice -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c sluice -n 'not __fish_seen_subcommand_from ${names}' -a ${name} -d ${quoted(does)}`,
      ...flags.map(
        (flag) => `${here} -l ${flag.name}${flag.value === '' ? '' : ` -r${takesFile(flag) ? ' -F' : ''}`} -d ${quoted(flag.does)}`,
      ),
      ...(files ? [`${here} -F`] : []),
      ...(choices.length > 0 ? [`${here} -a '${choices.join(' ')}'`] : []),
    ]
  })
  return `# fish completion of sluice: sluice completion fish\ncomplete -c sluice -f\n${lines.join('\n')}\n`
}

/** All three shells end a quote in the same way: `'\''`. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
