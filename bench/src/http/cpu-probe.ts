/**
 * Loaded into a measured server by `--import`. It answers each message of the parent process with the processor time that the server has
 * used.
 */
process.on('message', () => process.send?.(process.cpuUsage()))
// The channel does not keep a server running that has nothing else to do.
process.channel?.unref()
