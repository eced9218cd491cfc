import { hasPassword, withoutPassword } from '../stores/store-name.ts'

/**
 * Matches a URL's scheme and login (`user:password@`). Names of packages have an @ in their path, so web addresses need a `:` or `@` before
 * the first slash.
 */
const LOGIN = /\b(?:((?!(?:https?|file):)[a-z][a-z\d+.-]*:\/\/)|(https?:\/\/)(?=[^\s/"']*[:@]))[^\s"']*@/gi

export function withoutLogins(text: string): string {
  return text.replaceAll(LOGIN, '$1$2***@')
}

/** Hides URLs with passwords from lists of processes. Other users may have read the command line before this call. */
export function hidePasswords(): void {
  const shown = process.argv.slice(1).map((text) => {
    const [, flag = '', url = text] = /^(--[\w-]+=)(.*)$/s.exec(text) ?? []
    return url.includes('://') && hasPassword(url) ? `${flag}${withoutPassword(url)}` : text
  })
  if (shown.every((text, index) => text === process.argv[index + 1])) return
  process.title = [process.argv0, ...process.execArgv, ...shown].join(' ')
}
