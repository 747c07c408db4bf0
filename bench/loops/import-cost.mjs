// @ts-check
/** What importing `sluice/light` takes, in a fresh process that has loaded nothing: prints `{ ms, megabytes }` as JSON. */
const startedBytes = process.memoryUsage.rss()
const startedMs = performance.now()
await import('../../dist/light.js')
const ms = performance.now() - startedMs
process.stdout.write(JSON.stringify({ ms, megabytes: (process.memoryUsage.rss() - startedBytes) / 1e6 }))
