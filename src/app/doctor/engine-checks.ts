/** llama.cpp's libraries, GPUs, and the model that would be served. */
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import { mayUseGpu } from '../../checkpoints/memory/memory-need.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import type { CheckedSource } from '../../protocol/checkpoint-report.ts'
import { type Finding, fault, formatBytes, ok, warning } from './finding.ts'

export type EngineOptions = Pick<
  ServerConfig,
  | 'checkpoint'
  | 'modelConfig'
  | 'tokenizer'
  | 'quantization'
  | 'maxSeqLen'
  | 'maxBatchSize'
  | 'kvCacheType'
  | 'replicas'
  | 'prefixCacheMb'
  | 'gpu'
  | 'gpuLayers'
>

/** Loads llama.cpp into this process. @throws StartError where it cannot be loaded */
export async function checkLibraries({ gpu }: Pick<ServerConfig, 'gpu'>): Promise<Finding> {
  const { listDevices } = await import('../../engines/llamacpp/devices.ts')
  const names = listDevices(gpu).map(({ name, description }) => `${name} (${description.trim()})`)
  return ok('llama.cpp', `Loaded; it computes on ${names.join(', ')}.`)
}

/** @throws StartError */
export async function checkGpu({ gpu }: Pick<ServerConfig, 'gpu'>): Promise<Finding> {
  const subject = 'GPU'
  if (gpu === 'off') return ok(subject, 'Not used (--gpu off).')
  const { listDevices } = await import('../../engines/llamacpp/devices.ts')
  const used = listDevices(gpu).filter(({ isGpu }) => isGpu)
  if (used.length > 0) {
    const texts = used.map(
      ({ name, description, totalBytes, freeBytes }) =>
        `${name} (${description.trim()}, ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free)`,
    )
    return ok(subject, `Used: ${texts.join(', ')}.`)
  }
  const { findSeenGpus } = await import('../../engines/llamacpp/seen-gpu.ts')
  const { gpuLibraries } = await import('../../engines/llamacpp/ffi/libraries.ts')
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

/** @throws StartError where it cannot be served */
export async function checkModel(config: EngineOptions): Promise<Finding> {
  const subject = 'model'
  const { checkpoint, modelConfig, tokenizer, quantization } = config
  if (checkpoint === null) {
    return ok(
      subject,
      'None is given: the passthrough model, which repeats the prompt; your own: --checkpoint.',
    )
  }
  const { checkCheckpoint } = await import('../../checkpoints/check-checkpoint.ts')
  const source: CheckedSource = { checkpoint, modelConfig, tokenizer, quantization }
  const availableBytes = mayUseGpu(config) ? null : availableMemoryBytes()
  const report = await checkCheckpoint(source, { ...config, availableBytes, servingBytes: 0 })
  if (report.problem !== null) return fault(subject, report.problem)
  const download =
    report.downloadBytes === 0 ? '' : ` ${formatBytes(report.downloadBytes)} will be downloaded.`
  const size = `${report.architecture}, ${report.quantization}, needs ${formatBytes(report.neededBytes)}`
  const fits = availableBytes === null ? '' : ` of the ${formatBytes(availableBytes)} that are free`
  return ok(subject, `${checkpoint}: ${size}${fits}.${download}`)
}
