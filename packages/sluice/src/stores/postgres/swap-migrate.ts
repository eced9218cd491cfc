import type { PostgresPort } from './clients/postgres-port.ts'
import { classify, codeOf, NO_RIGHT, NO_TABLE } from './failures.ts'
import type { MigrateOptions } from './migrate.ts'
import { compatProgram } from './programs.gen.ts'
import type { SwapStatements } from './swap-rows.ts'

/** @throws StoreFailure if the database refuses */
export async function migrateSwap(client: PostgresPort, statements: SwapStatements, options: MigrateOptions = {}): Promise<void> {
  try {
    await makeTable(client, statements)
    if (options.compatFunction === true) await client.run(compatProgram)
  } catch (error) {
    throw classify(error)
  }
}

/**
 * Looks for the table first: `create table if not exists` needs the right to create even where the table is there. Looks again after a
 * failure, because another process may have made the table meanwhile.
 */
async function makeTable(client: PostgresPort, { migrate, exists }: SwapStatements): Promise<void> {
  const isThere = (): Promise<boolean> =>
    client.query(exists, []).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === NO_TABLE) return false
        // A right can only be missing on a table that exists.
        if (codeOf(error) === NO_RIGHT) return true
        throw error
      },
    )
  if (await isThere()) return
  try {
    await client.run(migrate)
  } catch (error) {
    if (!(await isThere())) throw error
  }
}
