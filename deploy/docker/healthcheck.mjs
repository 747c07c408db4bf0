// HEALTHCHECK of the images: whether the server answers, at the address and with the TLS that its own options name, wherever
// they were given. Its command line is that of the container's first process, or of the one whose id is given.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { parseCommandLine } from '../../dist/cli/command-line.js'
import { loadOptions } from '../../dist/config/resolve.js'

const LOOPBACK_OF = { '0.0.0.0': '127.0.0.1', '::': '::1' }

const { kind, flags } = parseCommandLine(wordsOf(process.argv[2] ?? '1'))
const { host, port, tlsCertfile } = loadOptions(['host', 'port', 'tlsCertfile'], { flags, env: process.env })
const { get } = kind === 'serve' && tlsCertfile !== null ? https : http
// The certificate has the name that clients know, not this one.
const address = { host: LOOPBACK_OF[host] ?? host, port, path: '/v1/health', rejectUnauthorized: false }
get(address, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))

/** What follows `sluice`, in front of which an init program may stand; empty where something else runs it. */
function wordsOf(pid) {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  const program = words.findIndex((word) => /(?:^|\/)sluice(?:\.js)?$/.test(word))
  return program < 0 ? [] : words.slice(program + 1)
}
