import { openStore } from '../../stores/open-store.ts'
import { hammer, type Task } from './hammer.ts'

/** Connects and answers 'ready'. At the next message it runs the load, and answers with its tally. */
async function run(task: Task): Promise<void> {
  const opened = await openStore(task.url, { space: task.space })
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send?.('ready')
  await go
  const tally = await hammer(opened.store, task)
  await opened.close()
  process.send?.(tally, () => process.disconnect())
}

// Ends when the parent process has ended.
process.on('disconnect', () => process.exit(0))
process.once('message', (task: Task) => {
  run(task).catch((error: unknown) => {
    process.stderr.write(`sluice: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  })
})
