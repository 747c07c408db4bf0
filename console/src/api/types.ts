/** Answers of the server as the pages read them; docs/http-api.md and the OpenAPI document are the whole of them. */

export const TIERS = ['free', 'pro', 'enterprise'] as const
type Tier = (typeof TIERS)[number]
type Role = 'user' | 'admin'

export interface Session {
  readonly kind: 'account' | 'guest' | 'open'
  readonly user_id: string | null
  readonly email: string | null
  readonly tier: Tier
  readonly role: Role
  readonly csrf_token: string | null
  readonly expires_at: number | null
}

/** Nobody is signed in. */
export interface Visitor {
  readonly kind: 'visitor'
}

/** Which part of a model is on GPUs. */
export interface Gpu {
  readonly layers: number
  readonly layers_total: number
  readonly devices: readonly {
    readonly name: string
    readonly description: string
    readonly layers: number
    readonly weights_mb: number
    readonly kv_cache_mb: number
    readonly free_mb: number
    readonly total_mb: number
  }[]
}
export type ModelState = 'loading' | 'ready' | 'unloaded' | 'draining' | 'failed'

export interface Model {
  readonly id: string
  /** Of a LoRA adapter: the id of its base model. */
  readonly parent?: string
  readonly meta: {
    readonly architecture: string | null
    readonly parameters: number | null
    readonly size_mb: number | null
    readonly quantization: string | null
    readonly max_seq_len: number | null
    readonly engine: string | null
    readonly capabilities: readonly string[] | null
    readonly state: ModelState
    readonly load_progress: number
    /** Whether it stays loaded when others need its room, and while nobody uses it. */
    readonly pinned: boolean
    readonly failure: string | null
    /** Unix seconds. */
    readonly last_used: number | null
    readonly note?: string
    readonly gpu?: Gpu
    readonly replicas?: number
    readonly replicas_ready?: number
  }
}

interface Budget {
  readonly period: 'day' | 'month'
  readonly max_tokens: number
  readonly spent_tokens: number
  readonly resets_at: number
}

export interface ApiKey {
  readonly id: string
  readonly key_prefix: string
  readonly name: string
  readonly tier: Tier
  readonly is_active: boolean
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used: number | null
  readonly rate_limit_rpm: number
  readonly max_concurrent_requests: number | null
  readonly requests_this_minute: number
  readonly open_requests: number
  readonly budgets: readonly Budget[]
}

export interface User {
  readonly user_id: string
  readonly email: string
  readonly tier: Tier
  readonly role: Role
  readonly disabled: boolean
  readonly created_at: number
  readonly team_id: string | null
}

export interface Invitation {
  readonly id: string
  readonly email: string
  readonly tier: Tier
  readonly role: Role
  readonly state: 'pending' | 'accepted' | 'expired' | 'revoked'
  readonly created_at: number
  readonly expires_at: number
}

export interface AuditRecord {
  readonly id: string
  readonly created_at: number
  readonly actor: string
  readonly action: string
  readonly target: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly status: number | null
  readonly request_id: string | null
}

export interface UsageRow {
  readonly bucket_start?: number
  readonly key?: string | null
  readonly model?: string | null
  readonly endpoint?: string | null
  readonly user?: string | null
  readonly name?: string | null
  readonly requests: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly avg_response_ms: number
  readonly p50_response_ms: number | null
  readonly p95_response_ms: number | null
  readonly errors: number
}

export interface Ban {
  readonly address: string
  readonly count: number
  readonly since: number
  readonly until: number
}
