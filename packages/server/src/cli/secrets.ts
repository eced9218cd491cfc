import { hasPassword, withoutPassword } from '../stores/store-name.ts'

/**
 * Matches the beginning of a URL with a login, anywhere in a text. The login ends at the last @. Web addresses and files may have an @ in
 * their path (packages often do). An @ in a path does not count.
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
