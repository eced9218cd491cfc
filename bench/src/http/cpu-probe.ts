/**
 * Loaded into a measured server by `--import`. It answers each message of the parent process with the processor time that the server has
 * used.
 */
process.on('message', () => process.send?.(process.cpuUsage()))
// Without this, the open channel would keep the process running although the server has nothing else to do.
process.channel?.unref()
