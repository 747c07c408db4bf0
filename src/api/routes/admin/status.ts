/**
 * `/v1/admin/status`: how the service is now, for the pages of an admin: once, or once a second as server-sent events. Read from
 * the metrics, so it is that of all processes. A stream ends after a minute, which its reader follows with another: an admin
 * who is one no longer looks on for no longer than that.
 */
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { INTERFACE_VERSION } from '../../../core/interface-version.ts'
import { TIERS } from '../../../core/tiers.ts'
import { BYTES_PER_MB, MODEL_STATES, type ModelRecord, toGpuObject } from '../../../models/model-record.ts'
import { type MetricSample, parseMetrics } from '../../../telemetry/metric-samples.ts'
import type { AppDeps } from '../../deps.ts'
import { gpu } from '../../schemas/models.ts'
import { addRoute } from '../../openapi/add-route.ts'

const count = () => z.number()

const modelStatus = z
  .object({
    id: z.string(),
    state: z.enum(MODEL_STATES),
    load_progress: z.number(),
    last_used: z.int().nullable().describe('Unix seconds; null before the first request.'),
    failure: z.string().nullable(),
    size_mb: z.number().nullable(),
    slots: z
      .int()
      .nullable()
      .describe('Sequences that run at once, in all its engines; null where an upstream has them.'),
    running: z.int().describe('Sequences that are computed now.'),
    waiting: z.int().describe('Sequences that were accepted and have not begun.'),
    kv_tokens_used: z
      .int()
      .nullable()
      .describe('Tokens that running sequences hold in the KV cache; null where it has none of its own.'),
    kv_tokens_total: z.int().nullable().describe('Tokens that the KV cache has room for.'),
    memory_bytes: z
      .number()
      .nullable()
      .describe('Of its engine processes, mapped weights included; null where the system does not say.'),
    gpu: gpu.nullable().describe('Null where it is on the processor alone.'),
    replicas: z.int().nullable(),
    replicas_ready: z.int().nullable(),
    engine_deaths: z.int().describe('Engine processes that have died and were started again.'),
    prompt_tokens: count().describe('Since the start.'),
    completion_tokens: count().describe('Since the start.'),
    tokens_per_second: z
      .number()
      .nullable()
      .describe('Of requests that ended since the event before; null in the first event.'),
  })
  .meta({ id: 'ModelStatus' })

const serverStatus = z
  .object({
    version: z.string().describe('Version of the interface.'),
    uptime_seconds: z.number(),
    why_not_ready: z.string().nullable().describe('Null while the default model can take work.'),
    models: z.array(modelStatus),
    queue: z.partialRecord(z.enum(TIERS), count()).describe('Sequences that wait, by tier.'),
    requests: z.record(z.string(), count()).describe('Ended since the start, by status.'),
    guard_hits: z.array(
      z.object({ guard: z.string(), rule: z.string(), count: count() }).meta({ id: 'GuardHits' }),
    ),
    bans: z.int().nullable().describe('Addresses that are banned; null where the firewall is off.'),
    refusals: z
      .record(z.string(), count())
      .describe('Requests that ended with an error since the start, by its code.'),
    last_errors: z
      .array(
        z
          .object({
            at: z.number().describe('Unix seconds.'),
            request_id: z.string(),
            method: z.string(),
            route: z.string().nullable(),
            status: z.int(),
            code: z.string(),
          })
          .meta({ id: 'RecentError' }),
      )
      .describe('The newest first, 50 at most; the log has them all.'),
    databases: z
      .record(z.string(), z.enum(['up', 'down']))
      .describe('Those that are servers; without one the databases are files in the data folder.'),
    certificate_expires_at: z.number().nullable().describe('Unix seconds; null without TLS.'),
    memory_bytes: count().describe('Of the HTTP processes, engines left out.'),
    data_dir: z.string().nullable(),
    disk_free_bytes: count().nullable().describe('Where the data folder is; null where there is none.'),
  })
  .meta({ id: 'ServerStatus' })

type ServerStatus = z.output<typeof serverStatus>

type StatusDeps = Pick<
  AppDeps,
  | 'clock'
  | 'firewall'
  | 'disk'
  | 'isDraining'
  | 'metrics'
  | 'recentErrors'
  | 'registry'
  | 'startedMs'
  | 'whyNotReady'
>

const ADMIN = { tag: 'Admin', access: 'admin' } as const

const EVENT_MS = 1000
const MAX_EVENTS = 60

export function registerStatusRoutes(app: FastifyInstance, deps: StatusDeps): void {
  addRoute(app, 'GET /v1/admin/status', {
    operationId: 'getStatus',
    summary: 'How the server is now',
    ...ADMIN,
    ok: serverStatus,
    handler: () => readStatus(deps, null),
  })

  addRoute(app, 'GET /v1/admin/status/stream', {
    operationId: 'streamStatus',
    summary: 'How the server is, once a second for a minute',
    ...ADMIN,
    ok: serverStatus,
    event: serverStatus,
    isStreamOnly: true,
    handler: (_request, reply) =>
      reply
        .headers({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
        .type('text/event-stream; charset=utf-8')
        .send(Readable.from(statusEvents(deps))),
  })
}

async function* statusEvents(deps: StatusDeps): AsyncGenerator<string> {
  let before: TokensBefore | null = null
  for (let turn = 0; turn < MAX_EVENTS && !deps.isDraining(); turn++) {
    if (turn > 0) await pause(EVENT_MS)
    const status: ServerStatus = await readStatus(deps, before)
    before = {
      atMs: deps.clock.nowMs(),
      tokens: new Map(status.models.map(({ id, completion_tokens: tokens }) => [id, tokens])),
    }
    yield `data: ${JSON.stringify(status)}\n\n`
  }
}

interface TokensBefore {
  readonly atMs: number
  /** By model. */
  readonly tokens: ReadonlyMap<string, number>
}

async function readStatus(deps: StatusDeps, before: TokensBefore | null): Promise<ServerStatus> {
  const { clock, firewall, registry, metrics } = deps
  const samples = parseMetrics(await metrics.render())
  const named = (name: string) => samples.filter((sample) => sample.name === name)
  const nowMs = clock.nowMs()
  const disk = await deps.disk()
  const waiting = sumBy(named('sluice_queue_waiting'), 'tier')
  const byModel = (name: string) => sumBy(named(name), 'model')
  const now = {
    slots: byModel('sluice_slots'),
    running: byModel('sluice_requests_running'),
    waiting: byModel('sluice_requests_waiting'),
    kvTokens: byModel('sluice_kv_cache_tokens'),
    kvCapacity: byModel('sluice_kv_cache_capacity_tokens'),
    memory: byModel('sluice_engine_resident_memory_bytes'),
  }
  const tokens = {
    prompt: byModel('sluice_prompt_tokens_total'),
    completion: byModel('sluice_completion_tokens_total'),
  }
  return {
    version: INTERFACE_VERSION,
    uptime_seconds: (nowMs - deps.startedMs) / 1000,
    why_not_ready: deps.whyNotReady()?.message ?? null,
    models: registry.list().map((record) => {
      const [prompt, completion] = [tokens.prompt.get(record.id) ?? 0, tokens.completion.get(record.id) ?? 0]
      const elapsedMs = before === null ? 0 : nowMs - before.atMs
      const made = Math.max(0, completion - (before?.tokens.get(record.id) ?? 0))
      return {
        ...toModelStatus(record),
        slots: now.slots.get(record.id) ?? null,
        running: now.running.get(record.id) ?? 0,
        waiting: now.waiting.get(record.id) ?? 0,
        kv_tokens_used: now.kvTokens.get(record.id) ?? null,
        kv_tokens_total: now.kvCapacity.get(record.id) ?? null,
        memory_bytes: now.memory.get(record.id) ?? null,
        prompt_tokens: prompt,
        completion_tokens: completion,
        tokens_per_second: elapsedMs > 0 ? (made * 1000) / elapsedMs : null,
      }
    }),
    queue: {
      free: waiting.get('free') ?? 0,
      pro: waiting.get('pro') ?? 0,
      enterprise: waiting.get('enterprise') ?? 0,
    },
    requests: Object.fromEntries(sumBy(named('sluice_requests_total'), 'status')),
    guard_hits: named('sluice_guard_hits_total').map(({ labels, value }) => ({
      guard: labels['guard'] ?? '',
      rule: labels['rule'] ?? '',
      count: value,
    })),
    bans: firewall === null ? null : (await firewall.listBans()).length,
    refusals: Object.fromEntries(sumBy(named('sluice_request_errors_total'), 'code')),
    last_errors: (await deps.recentErrors.list()).map(({ atUnixSeconds, requestId, ...error }) => ({
      ...{ at: atUnixSeconds, request_id: requestId },
      ...error,
    })),
    databases: Object.fromEntries(
      named('sluice_database_up').map(({ labels, value }) => [
        labels['database'] ?? '',
        value === 1 ? 'up' : 'down',
      ]),
    ),
    certificate_expires_at: named('sluice_certificate_expiry_timestamp_seconds')[0]?.value ?? null,
    memory_bytes: named('process_resident_memory_bytes').reduce((sum, { value }) => sum + value, 0),
    data_dir: disk?.folder ?? null,
    disk_free_bytes: disk?.freeBytes ?? null,
  }
}

function toModelStatus(record: ModelRecord) {
  const { id, state, loadFraction, failure, outline, replicas, engineDeaths } = record
  const sizeBytes = outline?.sizeBytes
  return {
    ...{ id, state, failure, load_progress: loadFraction, engine_deaths: engineDeaths },
    gpu: record.info?.placement === undefined ? null : toGpuObject(record.info.placement),
    last_used: record.lastUsedUnixSeconds,
    size_mb: sizeBytes !== undefined && Number.isFinite(sizeBytes) ? sizeBytes / BYTES_PER_MB : null,
    replicas: replicas?.all ?? null,
    replicas_ready: replicas?.ready ?? null,
  }
}

function sumBy(samples: readonly MetricSample[], label: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { labels, value } of samples) {
    const name = labels[label] ?? ''
    sums.set(name, (sums.get(name) ?? 0) + value)
  }
  return sums
}
