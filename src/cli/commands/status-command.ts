/** `sluice status`: how a running server is, asked over HTTP: with an admin key all that the admin API tells, without one whether it is ready. */
import { listSecrets } from '../../config/secret-kinds.ts'
import { StartError } from '../../core/errors.ts'
import { connectionFailure } from '../server-url.ts'
import { renderFacts, renderTable, toIsoDay } from '../terminal/table.ts'
import type { CommandContext } from '../terminal/terminal.ts'
import { toJsonLine } from '../terminal/terminal-text.ts'

export interface StatusCommand {
  /** Of the server; ends with a slash. */
  readonly url: string
  readonly printsJson: boolean
}

/** What is read of the answer of `GET /v1/admin/status`. */
interface ServerStatus {
  readonly uptime_seconds: number
  readonly why_not_ready: string | null
  readonly models: readonly ModelStatus[]
  readonly refusals: Readonly<Record<string, number>>
  readonly bans: number | null
  readonly databases: Readonly<Record<string, string>>
  readonly certificate_expires_at: number | null
  readonly memory_bytes: number
  readonly data_dir: string | null
  readonly disk_free_bytes: number | null
}

interface Gpu {
  readonly layers: number
  readonly layers_total: number
  readonly devices: readonly { readonly name: string; readonly description: string }[]
}

interface ModelStatus {
  readonly id: string
  readonly state: string
  readonly running: number
  readonly waiting: number
  readonly slots: number | null
  readonly kv_tokens_used: number | null
  readonly kv_tokens_total: number | null
  readonly memory_bytes: number | null
  readonly gpu: Gpu | null
  readonly engine_deaths: number
}

const ANSWER_TIMEOUT_MS = 10_000
const NOT_READY = 1

/** Resolves with the exit code: 0 while the server can take work. @throws StartError where it cannot be asked */
export async function runStatusCommand(
  command: StatusCommand,
  { config, terminal }: CommandContext<'adminKey'>,
): Promise<number> {
  const [adminKey] = listSecrets(config.adminKey)
  if (adminKey === undefined) return await printReadiness(command, terminal)
  const status = await ask<ServerStatus>(command.url, 'v1/admin/status', adminKey)
  if (command.printsJson) terminal.print(toJsonLine(status))
  else for (const line of describe(command.url, status)) terminal.print(line)
  return status.why_not_ready === null ? 0 : NOT_READY
}

async function printReadiness(
  { url, printsJson }: StatusCommand,
  terminal: Pick<CommandContext['terminal'], 'print'>,
): Promise<number> {
  const { status, body } = await fetchJson(url, 'v1/ready', null)
  const isReady = status === 200
  if (printsJson) terminal.print(toJsonLine({ ready: isReady, ...(body as object) }))
  else terminal.print(isReady ? `${url} is ready.` : `${url} is not ready: ${detailOf(body)}`)
  return isReady ? 0 : NOT_READY
}

function describe(url: string, status: ServerStatus): readonly string[] {
  const { certificate_expires_at: expiry, disk_free_bytes: free, data_dir: folder } = status
  const databases = Object.entries(status.databases).map(([name, state]) => `${name} ${state}`)
  const facts: (readonly [string, string])[] = [
    ['server', url],
    ['state', status.why_not_ready === null ? 'ready' : `not ready: ${status.why_not_ready}`],
    ['up for', toDuration(status.uptime_seconds)],
    ['memory of HTTP', toMegabytes(status.memory_bytes)],
    ...(free === null
      ? []
      : [['disk', `${toMegabytes(free)} free${folder === null ? '' : ` at ${folder}`}`] as const]),
    ...(databases.length === 0 ? [] : [['databases', databases.join(', ')] as const]),
    ...(expiry === null ? [] : [['certificate', `until ${toIsoDay(expiry)}`] as const]),
    ...(status.bans === null ? [] : [['banned addresses', String(status.bans)] as const]),
  ]
  const refusals = Object.entries(status.refusals).sort(([, one], [, other]) => other - one)
  return [
    ...renderFacts(facts),
    '',
    ...renderTable(MODEL_COLUMNS, status.models.map(toModelRow)),
    ...(refusals.length === 0
      ? []
      : [
          '',
          ...renderTable(
            ['refused with', 'requests'],
            refusals.map(([code, count]) => [code, String(count)]),
          ),
        ]),
  ]
}

const MODEL_COLUMNS = [
  ...['model', 'state', 'running', 'waiting', 'slots', 'kv cache', 'memory', 'layers on GPUs'],
  'engine deaths',
]

function toModelRow(model: ModelStatus): readonly string[] {
  const { kv_tokens_used: used, kv_tokens_total: total } = model
  return [
    ...[model.id, model.state, String(model.running), String(model.waiting)],
    model.slots === null ? '' : String(model.slots),
    used === null || total === null ? '' : `${used}/${total}`,
    model.memory_bytes === null ? '' : toMegabytes(model.memory_bytes),
    model.gpu === null ? '' : toGpuText(model.gpu),
    String(model.engine_deaths),
  ]
}

function toGpuText({ layers, layers_total: all, devices }: Gpu): string {
  const names = devices.map(({ name, description }) => ` ${name} (${description})`)
  return `${layers}/${all}${names.join(',')}`
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}

function toDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min ${Math.floor(seconds) % 60} s`
}

async function ask<Body>(url: string, path: string, secret: string): Promise<Body> {
  const { status, body } = await fetchJson(url, path, secret)
  if (status === 200) return body as Body
  throw new StartError(`${url} answered ${status}: ${detailOf(body)}`, 1)
}

async function fetchJson(
  url: string,
  path: string,
  secret: string | null,
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    const response = await fetch(new URL(path, url), {
      headers: secret === null ? {} : { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    return { status: response.status, body: await response.json() }
  } catch (error) {
    throw new StartError(`No server of Sluice answers at ${url} (--url): ${connectionFailure(error)}.`, 1)
  }
}

function detailOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'detail' in body
    ? String(body.detail)
    : 'without a reason'
}
