/** Node, open files, memory, disk and the port. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { createServer } from 'node:net'
import path from 'node:path'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { OPEN_FILE_LIMIT } from '../../core/open-file-limit.ts'
import { errorCode } from '../../core/system-error.ts'
import { type Finding, fault, formatBytes, ok, warning } from './finding.ts'

/** As `engines` of package.json. */
const LEAST_NODE = { major: 20, minor: 19 }
/** Each connection needs one, and loading the program some hundreds. */
const COMFORTABLE_FILES = 4096
const COMFORTABLE_DISK_BYTES = 1e9
const LEAST_DISK_BYTES = 100e6

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const { major: leastMajor, minor: leastMinor } = LEAST_NODE
  const isNewEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  const text = `Node ${version} on ${process.platform}-${process.arch}.`
  if (isNewEnough) return ok('Node', text)
  return fault('Node', `${text} Sluice needs ${leastMajor}.${leastMinor} or newer.`)
}

export function checkOpenFiles(limit = OPEN_FILE_LIMIT): Finding {
  if (limit >= COMFORTABLE_FILES)
    return ok('open files', Number.isFinite(limit) ? `Up to ${limit}.` : 'No limit is known.')
  return warning(
    'open files',
    `Up to ${limit}; each connection needs one: raise it with ulimit -n or LimitNOFILE of the systemd unit.`,
  )
}

export function checkFreeMemory(availableBytes = availableMemoryBytes()): Finding {
  return ok('memory', `${formatBytes(availableBytes)} for models.`)
}

/** The data folder: whether it can be written, and what its disk has left. */
export async function checkDataFolder({ dataDir }: Pick<ServerConfig, 'dataDir'>): Promise<Finding> {
  const subject = 'data folder'
  const problem = whyNotWritable(dataDir, '--data-dir')
  if (problem !== null) return fault(subject, problem)
  const { bavail, bsize } = await statfs(nearestExisting(path.resolve(dataDir)))
  const free = bavail * bsize
  const text = `'${dataDir}'${existsSync(dataDir) ? '' : ', which the start makes'}: ${formatBytes(free)} free.`
  if (free < LEAST_DISK_BYTES)
    return fault(subject, `${text} Make room: usage and converted models lie there.`)
  if (free < COMFORTABLE_DISK_BYTES) return warning(subject, `${text} Converted models need more.`)
  return ok(subject, text)
}

export function checkPrefixCacheFolder(folder: string): Finding {
  const subject = 'prefix cache'
  const problem = whyNotWritable(folder, '--prefix-cache-dir')
  return problem === null ? ok(subject, `In '${folder}'.`) : fault(subject, problem)
}

/** Of a folder, which the start makes where it is not there; null where it may be. */
function whyNotWritable(folder: string, option: string): string | null {
  const existing = nearestExisting(path.resolve(folder))
  if (!statSync(existing).isDirectory()) return `'${existing}' is no folder; choose another with ${option}.`
  try {
    accessSync(existing, constants.W_OK)
    return null
  } catch {
    return `'${existing}' may not be written by this user; choose another with ${option}.`
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(path.dirname(folder))
}

export async function checkPort({
  host,
  port,
  tlsCertfile,
}: Pick<ServerConfig, 'host' | 'port' | 'tlsCertfile'>): Promise<Finding> {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const problem = await tryListening({ host, port })
  if (problem === null) return ok('port', `${where} is free.`)
  switch (problem) {
    case 'EADDRINUSE':
      return await describeHolder(where, tlsCertfile === null ? 'http' : 'https')
    case 'EACCES':
      return fault('port', `Listening on ${where} is not permitted; choose a port above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return fault('port', `${host} is not an address of this machine; choose another with --host.`)
    default:
      return fault('port', `Listening on ${where} fails (${problem}).`)
  }
}

/** The ports of `--port-knock`. */
export async function checkKnockPort(host: string, port: number): Promise<Finding> {
  const subject = 'port knock'
  const problem = await tryListening({ host, port })
  if (problem === null) return ok(subject, `Port ${port} is free.`)
  if (problem === 'EADDRINUSE')
    return warning(
      subject,
      `Port ${port} is in use: unless by this service itself, choose another with --port-knock.`,
    )
  return fault(subject, `Listening on port ${port} fails (${problem}); choose another with --port-knock.`)
}

/** Resolves with the code of the error; null where the address is free. */
function tryListening(address: Pick<ServerConfig, 'host' | 'port'>): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', (error) => resolve(errorCode(error) ?? error.message))
    server.listen({ ...address, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

const ANSWER_TIMEOUT_MS = 3000
const MAX_ANSWER_BYTES = 65_536

async function describeHolder(where: string, scheme: 'http' | 'https'): Promise<Finding> {
  const own = where.replace('0.0.0.0:', '127.0.0.1:').replace('[::]:', '[::1]:')
  const answer = await readAnswer(`${scheme}://${own}/v1/health`).catch(() => null)
  // Other programs have a `status` too, of their health or of an error.
  const isSluice = typeof answer === 'object' && answer !== null && 'models_loaded' in answer
  if (isSluice) return ok('port', `A server of Sluice listens on ${where}.`)
  return fault('port', `${where} is in use by another program; choose another with --port.`)
}

/** Of a program on this machine, whose certificate has another name than this address: it is not checked, and nothing is told to it. */
function readAnswer(url: string): Promise<unknown> {
  const get = url.startsWith('https:') ? https.get : http.get
  const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }
  return new Promise((resolve, reject) => {
    get(url, options, (response) => resolve(readShort(response))).on('error', reject)
  })
}

/** @throws where the answer is no JSON, or longer than that of any health: another program may send without end. */
async function readShort(response: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new RangeError('the answer is too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
