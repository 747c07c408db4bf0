/** One model: what it is, and what it does this second. */
import type { ModelStatus } from '../../api/status.ts'
import type { Gpu, Model } from '../../api/types.ts'
import { formatAgo, formatBytes, formatNumber, formatShort } from '../../format.ts'
import { Meter } from '../../ui/parts.tsx'
import { STATE_CLASSES } from '../../ui/state-classes.ts'

/** What an admin may do about its engine; another model is unloaded by itself where it needs the room. */
const ACTIONS = { ready: 'unload', unloaded: 'load', failed: 'load', loading: null, draining: null } as const

const BYTES_PER_MB = 1_000_000

interface ModelCardProps {
  readonly model: Model
  /** Null until the first event. */
  readonly live: ModelStatus | null
  readonly onSwap: () => void
  readonly onQuantize: () => void
  /** Adds a LoRA adapter to it. */
  readonly onAdapt: () => void
  /** Opens its engine, or closes it until a request asks for it. */
  readonly onAct: (action: 'load' | 'unload') => void
  readonly onRemove: () => void
}

export function ModelCard({ model, live, onSwap, onQuantize, onAdapt, onAct, onRemove }: ModelCardProps) {
  const { id, parent = null, meta } = model
  const state = live?.state ?? meta.state
  const progress = live?.load_progress ?? meta.load_progress
  const failure = live?.failure ?? meta.failure
  const lastUsed = live?.last_used ?? meta.last_used
  const isOwn = meta.engine === 'llama.cpp' && parent === null
  const action = isOwn ? ACTIONS[state] : null
  const takesAdapters = isOwn && (meta.capabilities?.includes('generate') ?? false)
  return (
    <article class="card model" aria-label={`Model ${id}`}>
      <div class="row apart">
        <div>
          <h2>{id}</h2>
          <p class="small muted">{describe(meta)}</p>
          {parent !== null && <p class="small">Adapter of {parent}</p>}
        </div>
        <span class={STATE_CLASSES[state]}>{state}</span>
      </div>
      {failure !== null && <div class="note bad">{failure}</div>}
      {progress < 1 && state !== 'failed' && state !== 'unloaded' && (
        <Meter label="Loading" used={progress} max={1} text={`${Math.round(progress * 100)} %`} />
      )}
      {meta.gpu !== undefined && <p class="small">{describeGpu(meta.gpu)}</p>}
      {live !== null && state !== 'unloaded' && <Live live={live} />}
      {lastUsed !== null && state === 'unloaded' && (
        <p class="small muted">Last used {formatAgo(lastUsed)}</p>
      )}
      <div class="row">
        <button type="button" class="button small" onClick={onSwap}>
          Replace<span class="hidden-text"> {id}</span>
        </button>
        {parent === null && (
          <button type="button" class="button small" onClick={onQuantize}>
            Quantize<span class="hidden-text"> {id}</span>
          </button>
        )}
        {takesAdapters && (
          <button type="button" class="button small" onClick={onAdapt}>
            Add adapter<span class="hidden-text"> to {id}</span>
          </button>
        )}
        {action !== null && (
          <button type="button" class="button small" onClick={() => onAct(action)}>
            {action === 'load' ? 'Load' : 'Unload'}
            <span class="hidden-text"> {id}</span>
          </button>
        )}
        <button type="button" class="button small danger" onClick={onRemove}>
          Remove<span class="hidden-text"> {id}</span>
        </button>
      </div>
    </article>
  )
}

function describe(meta: Model['meta']): string {
  const { architecture, parameters, quantization, size_mb: size, max_seq_len: length, engine } = meta
  return [
    ...(architecture === null ? [] : [architecture]),
    ...(parameters === null ? [] : [`${formatShort(parameters)} parameters`]),
    ...(quantization === null ? [] : [quantization]),
    ...(size === null ? [] : [formatBytes(size * BYTES_PER_MB)]),
    ...(length === null ? [] : [`${formatNumber(length)} tokens of context`]),
    ...(engine === null ? [] : [engine]),
  ].join(', ')
}

function describeGpu({ layers, layers_total: all, devices }: Gpu): string {
  if (layers === 0) return `On the CPU: none of its ${all} layers fits on a GPU`
  const parts = devices.map((device) => {
    const used = formatBytes((device.weights_mb + device.kv_cache_mb) * BYTES_PER_MB)
    const [free, total] = [device.free_mb, device.total_mb].map((mb) => formatBytes(mb * BYTES_PER_MB))
    return `${device.layers} of ${all} layers on ${device.description} (${device.name}), ${used}; ${free} of ${total} free`
  })
  return parts.join(', ')
}

function Live({ live }: { readonly live: ModelStatus }) {
  const { replicas, replicas_ready: ready, running, waiting, slots } = live
  const { kv_tokens_used: used, kv_tokens_total: total } = live
  const { tokens_per_second: rate, memory_bytes: memory, engine_deaths: deaths } = live
  const facts = [
    ...(rate === null ? [] : [['Tokens/s', rate.toFixed(rate > 0 && rate < 10 ? 1 : 0)]]),
    ...(slots === null ? [['Running', formatNumber(running)]] : []),
    ['Waiting', formatNumber(waiting)],
    ...(replicas === null ? [] : [['Replicas', `${ready ?? 0} of ${replicas} ready`]]),
    ...(memory === null ? [] : [['Memory', formatBytes(memory)]]),
    ['Tokens since the start', formatShort(live.prompt_tokens + live.completion_tokens)],
    ['Engine restarts', formatNumber(deaths)],
  ]
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="meters">
        {slots !== null && <Meter label="Slots in use" used={running} max={slots} />}
        {total !== null && <Meter label="KV cache, tokens" used={used} max={total} format={formatShort} />}
      </div>
    </>
  )
}
