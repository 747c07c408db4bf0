/** llama.cpp's libraries, GPUs, and the models that would be served, in the order in which a start loads them. */
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { isHubReference } from '../../checkpoints/hub/hub-reference.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { StartError } from '../../core/errors.ts'
import type { CheckpointReport } from '../../protocol/checkpoint-report.ts'
import type { ComputeDevice } from '../../protocol/compute-device.ts'
import type { AdapterModelSource, LocalModelSource } from '../../protocol/model-source.ts'
import { type Finding, fault, formatBytes, ok, warning } from './finding.ts'

export type EngineOptions = Pick<
  ServerConfig,
  | 'maxSeqLen'
  | 'maxBatchSize'
  | 'kvCacheTokens'
  | 'kvCacheType'
  | 'replicas'
  | 'prefixCacheMb'
  | 'gpu'
  | 'gpuLayers'
>

/** Loads llama.cpp into this process. @throws StartError where it cannot be loaded */
export async function checkLibraries({ gpu }: Pick<ServerConfig, 'gpu'>): Promise<Finding> {
  const { listDevices } = await import('../../engines/llamacpp/devices/devices.ts')
  return ok('llama.cpp', `Loaded; it computes on ${listDevices(gpu).texts.join(', ')}.`)
}

/** @throws StartError */
export async function checkGpu({ gpu }: Pick<ServerConfig, 'gpu'>): Promise<Finding> {
  const subject = 'GPU'
  if (gpu === 'off') return ok(subject, 'Not used (--gpu off).')
  const { listDevices } = await import('../../engines/llamacpp/devices/devices.ts')
  const { gpus: used } = listDevices(gpu)
  if (used.length > 0) {
    const texts = used.map(
      ({ name, description, totalBytes, freeBytes }) =>
        `${name} (${description}, ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free)`,
    )
    return ok(subject, `Used: ${texts.join(', ')}.`)
  }
  const { findSeenGpus } = await import('../../engines/llamacpp/devices/seen-gpu.ts')
  const { gpuLibraries } = await import('../../engines/llamacpp/ffi/library-packages.ts')
  const [seen] = findSeenGpus()
  if (seen === undefined) return ok(subject, 'None was found; models run on the processor.')
  const libraries = gpuLibraries(seen.libraries)
  if (libraries === null) return ok(subject, `${seen.name} is there; llama.cpp has no libraries for it here.`)
  if (!libraries.isInstalled) return warning(subject, `${seen.name} is not used: run "${libraries.command}".`)
  return warning(
    subject,
    `${seen.name} is there and its libraries too, but its driver gives no device: look at nvidia-smi or vulkaninfo.`,
  )
}

export function passthroughModel(): Finding {
  return ok(
    'model',
    'None is given: the passthrough model, which repeats the prompt; your own: --checkpoint.',
  )
}

interface ModelCheck {
  readonly finding: Finding
  /** Of the machine's own memory; 0 where it would not be loaded. */
  readonly neededBytes: number
}

/**
 * `loadingBytes`: what the models need that the start loads before it.
 * @throws StartError where it cannot be served
 */
export async function checkModel(
  source: LocalModelSource,
  config: EngineOptions,
  loadingBytes: number,
): Promise<ModelCheck> {
  const { checkpoint, draftCheckpoint } = source
  const { checkCheckpoint } = await import('../../checkpoints/check-checkpoint.ts')
  const availableBytes = availableMemoryBytes()
  const options = { ...config, devices: await usableGpus(config), availableBytes, servingBytes: 0 }
  const report = await checkCheckpoint(source, { ...options, loadingBytes })
  if (report.problem !== null) {
    const { problem } = loadingBytes === 0 ? report : await checkCheckpoint(source, options)
    const finding =
      problem !== null
        ? fault('model', problem)
        : warning('model', `Its first request loads it, and has others unloaded: ${report.problem}`)
    return { finding, neededBytes: 0 }
  }
  const size = `${report.architecture}, ${report.quantization}, needs ${formatBytes(report.neededBytes)}`
  const drafted = draftCheckpoint === null ? '' : ` Its draft model is ${draftCheckpoint}.`
  const { kvCache } = report
  const cache = kvCache === null ? '' : ` KV cache: ${kvCache}.`
  const beside = loadingBytes === 0 ? '' : `, beside ${formatBytes(loadingBytes)} for those before it`
  const fits = ` of the ${formatBytes(availableBytes)} that are free${beside}`
  const text = `${checkpoint}: ${size}${fits}.${drafted}${cache}${describeLayers(report)}${describeDownload(report)}`
  return { finding: ok('model', text), neededBytes: report.neededBytes }
}

/**
 * Whether its files and its base model are there; what they fit is known once that is open.
 * @param localIds of the models that may be one
 * @throws StartError
 */
export async function checkAdapter(
  { base, adapter }: AdapterModelSource,
  localIds: readonly string[],
): Promise<Finding> {
  if (!localIds.includes(base))
    return fault('adapter', `${adapter} has the base '${base}', which is no local model.`)
  const download = await findAdapter(adapter)
  return ok('adapter', `${adapter}, for '${base}'.${download}`)
}

/** What of it will be downloaded, as the end of a text. @throws StartError where it is no adapter */
async function findAdapter(adapter: string): Promise<string> {
  if (isHubReference(adapter)) {
    const { surveyAdapter } = await import('../../checkpoints/hub/survey-model.ts')
    const survey = await surveyAdapter(adapter, { env: process.env })
    if (survey.kind === 'remote') return describeDownload(survey)
  } else {
    const { findAdapterFiles } = await import('../../checkpoints/adapters/adapter-files.ts')
    await findAdapterFiles(adapter)
  }
  return ''
}

function describeDownload({ downloadBytes }: { readonly downloadBytes: number }): string {
  return downloadBytes === 0 ? '' : ` ${formatBytes(downloadBytes)} will be downloaded.`
}

/** None where llama.cpp cannot be loaded, which is a finding of its own. */
async function usableGpus({ gpu, gpuLayers }: EngineOptions): Promise<readonly ComputeDevice[]> {
  if (gpu === 'off' || gpuLayers === 0) return []
  const { listDevices } = await import('../../engines/llamacpp/devices/devices.ts')
  try {
    return listDevices(gpu).gpus
  } catch (error) {
    if (error instanceof StartError) return []
    throw error
  }
}

function describeLayers({ placement }: CheckpointReport): string {
  if (placement === null) return ''
  const { layers, allLayers, devices } = placement
  if (layers === 0) return ` None of its ${allLayers} layers fits on a GPU.`
  const parts = devices.map((device) => {
    const bytes = device.weightBytes + device.kvCacheBytes
    return `${device.layers} of ${allLayers} layers would be on ${device.name}, with ${formatBytes(bytes)}`
  })
  return ` ${parts.join(', ')}.`
}
