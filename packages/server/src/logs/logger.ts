import { pino } from 'pino'
import type { Log, LogFormat, LogLevel } from './log.ts'

interface Written {
  readonly time: string
  readonly level: LogLevel
  readonly msg: string
  readonly stack?: string
}

/** @param write called with each line, its line end included */
export function createLog({ format, level }: { readonly format: LogFormat; readonly level: LogLevel }, write: (text: string) => void): Log {
  const options = {
    level,
    // Whoever collects the lines knows process id and host name.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const logger = pino(options, { write: format === 'json' ? write : (line: string) => write(textOf(JSON.parse(line) as Written)) })
  return (at, event, message, fields) => logger[at]({ event, ...fields }, message)
}

function textOf({ time, level, msg, stack }: Written): string {
  const line = `${time} ${level.padEnd(5)} ${printable(msg)}\n`
  return stack === undefined
    ? line
    : `${line}${stack
        .split('\n')
        .map((frame) => `  ${printable(frame)}\n`)
        .join('')}`
}

/** Control characters could fake another line, or move a terminal's cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
