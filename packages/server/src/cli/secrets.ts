import { hasPassword, withoutPassword } from '../stores/store-name.ts'

/**
 * Matches a URL from its scheme to the end of its login (`user:password@`), anywhere in a text. The login ends at the last @. File URLs do
 * not match, and web addresses only if a `:` or `@` is before their first slash. Both may have an @ in their path: names of packages do.
 */
const LOGIN = /\b(?:((?!(?:https?|file):)[a-z][a-z\d+.-]*:\/\/)|(https?:\/\/)(?=[^\s/"']*[:@]))[^\s"']*@/gi

/** A text without the logins of URLs in it. */
export function withoutLogins(text: string): string {
  return text.replaceAll(LOGIN, '$1$2***@')
}

/**
 * Replaces this process's command line in lists of processes if an argument is a URL with a password, also as `--store=URL`. Other users of
 * the machine may have read it before this call.
 */
export function hidePasswords(): void {
  const shown = process.argv.slice(1).map((text) => {
    const [, flag = '', url = text] = /^(--[\w-]+=)(.*)$/s.exec(text) ?? []
    return url.includes('://') && hasPassword(url) ? `${flag}${withoutPassword(url)}` : text
  })
  if (shown.every((text, index) => text === process.argv[index + 1])) return
  process.title = [process.argv0, ...process.execArgv, ...shown].join(' ')
}
