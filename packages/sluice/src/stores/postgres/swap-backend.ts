import type { SwapBackend, SwapWrite } from '../families/compare-and-swap.ts'
import type { DecideOptions } from '../store.ts'
import { digestOf } from './encode.ts'
import { classify, isConflict } from './failures.ts'
import type { Lanes, Locking, Statement } from './lanes.ts'
import type { Row } from './clients/postgres-port.ts'

type Send = (statement: Statement, values: readonly string[]) => Promise<readonly Row[]>

export function swapBackend(
  lanes: Lanes,
  read: SwapBackend['read'],
  write: (rows: readonly SwapWrite[], send: Send) => Promise<boolean>,
): SwapBackend {
  return {
    name: 'postgres',
    clock: 'server',
    idOf: digestOf,
    classify,
    isConflict,
    run: (attempts, options) => lanes.run(attempts, options, lockingOf(options)),
    read,
    write: (rows, options) => write(rows, (statement, values) => lanes.send(statement, values, options, lockingOf(options))),
  }
}

function lockingOf(options: DecideOptions | undefined): Locking {
  return options?.charge === false ? 'none' : (options?.onContention ?? 'wait')
}
