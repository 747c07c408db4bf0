/**
 * What the kept pictures of the console show: a server's answers of one moment, which hold no time, size or count of the run that
 * takes them. Page and session are the real server's.
 */
import type {
  ApiKey,
  AuditRecord,
  Ban,
  Invitation,
  Model,
  UsageRow,
  User,
} from '../../../console/src/api/types.ts'
import type { ServerStatus } from '../../../console/src/api/status.ts'

/** A Monday. */
export const SCENE_TIME = new Date('2026-11-23T10:30:00Z')

const NOW = SCENE_TIME.getTime() / 1000
const HOUR = 3600
const DAY = 24 * HOUR

export interface Scene {
  readonly keys: readonly ApiKey[]
  /** Of a day, by hour. */
  readonly usage: readonly UsageRow[]
  readonly usageByAccount: readonly UsageRow[]
  readonly users: readonly User[]
  readonly invitations: readonly Invitation[]
  readonly audit: readonly AuditRecord[]
  readonly models: readonly Model[]
  readonly status: ServerStatus
  readonly bans: readonly Ban[]
  /** What the model says, token by token. */
  readonly answer: readonly string[]
}

const key = (id: string, facts: Partial<ApiKey>): ApiKey => ({
  id,
  ...{ key_prefix: `sk-sluice-${id}`, name: id, tier: 'pro', is_active: true },
  ...{ created_at: NOW - 40 * DAY, expires_at: null, last_used: NOW - 4 * 60 },
  ...{ rate_limit_rpm: 300, max_concurrent_requests: 20, requests_this_minute: 0, open_requests: 0 },
  budgets: [],
  ...facts,
})

const KEYS: readonly ApiKey[] = [
  key('a3f9', {
    ...{ name: 'Support assistant', requests_this_minute: 212, open_requests: 9 },
    budgets: [
      { period: 'day', max_tokens: 2_000_000, spent_tokens: 1_240_000, resets_at: NOW + 13.5 * HOUR },
      { period: 'month', max_tokens: 40_000_000, spent_tokens: 21_700_000, resets_at: NOW + 8 * DAY },
    ],
  }),
  key('77c1', {
    ...{ name: 'Nightly summaries', last_used: NOW - 8 * HOUR, expires_at: NOW + 21 * DAY },
    budgets: [{ period: 'day', max_tokens: 500_000, spent_tokens: 500_000, resets_at: NOW + 13.5 * HOUR }],
  }),
  key('0b4e', { name: 'Notebook', last_used: null }),
  key('9d20', { name: 'Old laptop', is_active: false }),
]

/** More by day than by night, and never twice the same. */
const shareOf = (hour: number) =>
  Math.max(0.04, Math.sin(((hour - 6) / 14) * Math.PI)) * (0.85 + 0.15 * Math.sin(hour * 2.3))

const usageOf = (share: number, errors: number): Omit<UsageRow, 'bucket_start'> => ({
  ...{ requests: Math.round(420 * share), tokens_in: Math.round(310_000 * share) },
  ...{ tokens_out: Math.round(96_000 * share), avg_response_ms: 640 + 500 * share },
  ...{ errors, p50_response_ms: 520 + 300 * share, p95_response_ms: 1400 + 1500 * share },
})

const USAGE = Array.from({ length: 25 }, (_, index): UsageRow => {
  const start = Math.floor(NOW / HOUR - 24 + index) * HOUR
  const hour = (start / HOUR) % 24
  return { bucket_start: start, ...usageOf(shareOf(hour), hour % 5 === 0 ? 3 : 0) }
})

const ACCOUNTS = [
  'ada@example.org',
  'bob@example.org',
  'cyd@example.org',
  // Every page has to find room for it.
  'an.address.that.is.longer.than.others@department.university.example.org',
]

const user = (index: number, facts: Partial<User> = {}): User => ({
  ...{ user_id: `user-${index}`, email: ACCOUNTS[index] ?? '', tier: 'pro', role: 'user' },
  ...{ disabled: false, created_at: NOW - (90 - index * 20) * DAY, team_id: null },
  ...facts,
})

const invitation = (email: string, facts: Partial<Invitation> = {}): Invitation => ({
  ...{ id: email, email, tier: 'pro', role: 'user', state: 'pending' },
  ...{ created_at: NOW - DAY, expires_at: NOW + 6 * DAY },
  ...facts,
})

const record = (action: string, facts: Partial<AuditRecord>): AuditRecord => ({
  id: action,
  ...{ created_at: NOW - HOUR, actor: 'ada@example.org', action, target: null, details: {}, status: 200 },
  request_id: null,
  ...facts,
})

const model = (id: string, facts: Partial<Model['meta']>): Model => ({
  id,
  meta: {
    ...{ architecture: 'llama', parameters: 8_030_000_000, size_mb: 4921, quantization: 'Q4_K_M' },
    ...{ max_seq_len: 8192, engine: 'llama.cpp', capabilities: ['chat'], state: 'ready', load_progress: 1 },
    ...{ pinned: false, failure: null, last_used: null },
    ...facts,
  },
})

const modelStatus = (id: string, facts: Partial<ServerStatus['models'][number]>) => ({
  id,
  ...{
    state: 'ready' as const,
    load_progress: 1,
    failure: null,
    last_used: null,
    size_mb: 4921,
    memory_bytes: 6_240_000_000,
  },
  ...{ slots: 16, running: 11, waiting: 2, kv_tokens_used: 61_400, kv_tokens_total: 131_072 },
  ...{ replicas: 2, replicas_ready: 2, engine_deaths: 0 },
  ...{ prompt_tokens: 48_200_000, completion_tokens: 9_310_000, tokens_per_second: 184 },
  ...facts,
})

/** More than the card's memory holds. */
const GPU: Model['meta']['gpu'] = {
  ...{ layers: 29, layers_total: 33 },
  devices: [
    {
      ...{ name: 'CUDA0', description: 'NVIDIA GeForce RTX 3060', layers: 29 },
      ...{ weights_mb: 4268, kv_cache_mb: 1900, free_mb: 5240, total_mb: 12_630 },
    },
  ],
}

const EMBEDDINGS = {
  ...{ architecture: 'bert', parameters: 109_000_000, size_mb: 219, quantization: null },
  ...{ max_seq_len: 512, capabilities: ['embeddings'] },
}

const STATUS: ServerStatus = {
  ...{ version: '1.1.1', uptime_seconds: 11 * DAY + 5 * HOUR, why_not_ready: null },
  models: [
    modelStatus('llama-3.1-8b-instruct', {}),
    modelStatus('mistral-nemo-12b', {
      ...{ state: 'unloaded', load_progress: 0, size_mb: 7478, last_used: NOW - 3 * HOUR },
      ...{ memory_bytes: null, running: 0, waiting: 0, kv_tokens_used: null, kv_tokens_total: null },
      ...{ slots: null, replicas: null, replicas_ready: null, tokens_per_second: null },
      ...{ prompt_tokens: 1_900_000, completion_tokens: 420_000 },
    }),
    modelStatus('bge-base', {
      ...{ size_mb: 219, memory_bytes: 390_000_000, slots: 8, running: 1, waiting: 0, replicas: 1 },
      ...{ replicas_ready: 1, kv_tokens_used: null, kv_tokens_total: null, tokens_per_second: 0 },
      ...{ prompt_tokens: 7_100_000, completion_tokens: 0, engine_deaths: 1 },
    }),
    modelStatus('qwen-2.5-7b', {
      ...{ state: 'loading', load_progress: 0.62, size_mb: 4683, replicas: 1, replicas_ready: 0 },
      ...{ memory_bytes: null, running: 0, waiting: 0, kv_tokens_used: null, kv_tokens_total: null },
      ...{ slots: null, prompt_tokens: 0, completion_tokens: 0, tokens_per_second: null },
    }),
  ],
  queue: { free: 0, pro: 2, enterprise: 0 },
  requests: { 200: 61_240, 400: 212, 401: 17, 404: 9, 429: 388, 499: 41 },
  guard_hits: [
    { guard: 'prompt', rule: 'injection', count: 14 },
    { guard: 'firewall', rule: 'scanner-path', count: 122 },
  ],
  bans: 1,
  refusals: { rate_limit_exceeded: 301, budget_exceeded: 87, prompt_rejected: 14, unauthorized: 17 },
  last_errors: [
    ['budget_exceeded', 429, 'POST', '/v1/chat/completions', 3],
    ['prompt_rejected', 400, 'POST', '/v1/chat/completions', 11],
    ['context_length_exceeded', 400, 'POST', '/v1/messages', 34],
    ['model_not_found', 404, 'POST', '/v1/embeddings', 52],
    ['unauthorized', 401, 'GET', '/v1/models', 130],
  ].map(([code, status, method, route, minutes], index) => ({
    ...{ at: NOW - Number(minutes) * 60, request_id: `req-7f3a90c${index}`, method: String(method) },
    ...{ route: String(route), status: Number(status), code: String(code) },
  })),
  databases: { postgres: 'up', redis: 'up' },
  certificate_expires_at: NOW + 61 * DAY,
  memory_bytes: 214_000_000,
  data_dir: '/var/lib/sluice',
  disk_free_bytes: 318_000_000_000,
}

const ANSWER = `Retry only what can succeed the second time, and wait longer each time:

\`\`\`python
def call(request, attempts=5):
    for attempt in range(attempts):
        answer = send(request)
        if answer.status not in (429, 503):
            return answer
        time.sleep(answer.retry_after or 2**attempt)
    return answer
\`\`\`

- **429 and 503** come with \`Retry-After\`: believe it.
- **400 and 401** stay what they are, however often you ask.`

export const FULL: Scene = {
  keys: KEYS,
  usage: USAGE,
  usageByAccount: [0.46, 0.31, 0.18, 0.05].map((share, index) => ({
    ...{ user: `user-${index}`, name: ACCOUNTS[index] ?? '' },
    ...usageOf(share * 11, index * 4),
  })),
  users: [
    user(0, { tier: 'enterprise', role: 'admin' }),
    user(1),
    user(2, { tier: 'free' }),
    user(3, { disabled: true }),
  ],
  invitations: [invitation('eve@example.org'), invitation('bob@example.org', { state: 'accepted' })],
  audit: [
    record('user.change', { target: 'user-2', details: { tier: 'free' }, created_at: NOW - 2 * HOUR }),
    record('model.register', { target: 'qwen-2.5-7b', details: { quantization: 'none' } }),
  ],
  models: [
    model('llama-3.1-8b-instruct', { gpu: GPU }),
    model('mistral-nemo-12b', {
      ...{ parameters: 12_200_000_000, size_mb: 7478, max_seq_len: 16_384 },
      ...{ state: 'unloaded', load_progress: 0, last_used: NOW - 3 * HOUR },
    }),
    model('bge-base', EMBEDDINGS),
    model('qwen-2.5-7b', {
      ...{ architecture: 'qwen2', parameters: 7_620_000_000, size_mb: 4683 },
      ...{ state: 'loading', load_progress: 0.62 },
    }),
  ],
  status: STATUS,
  bans: [{ address: '203.0.113.9', count: 2, since: NOW - 20 * 60, until: NOW + 40 * 60 }],
  answer: ANSWER.match(/\S+\s*/g) ?? [],
}

/** As on the first day. */
export const EMPTY: Scene = {
  ...{
    keys: [],
    usage: [],
    usageByAccount: [],
    invitations: [],
    audit: [],
    models: [],
    bans: [],
    answer: [],
  },
  users: [user(0, { tier: 'enterprise', role: 'admin' })],
  status: {
    ...STATUS,
    ...{ uptime_seconds: 40, why_not_ready: null, models: [], requests: {}, guard_hits: [], bans: 0 },
    ...{ queue: {}, refusals: {}, last_errors: [], databases: {}, certificate_expires_at: null },
  },
}
