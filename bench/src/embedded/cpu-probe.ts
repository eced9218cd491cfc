/** Loaded into a measured server by `--import`: answers each message of its parent with the processor time it has used. */
process.on('message', () => process.send?.(process.cpuUsage()))
// A server that has nothing else to do may end.
process.channel?.unref()
