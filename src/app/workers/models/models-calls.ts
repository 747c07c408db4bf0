/** What a worker may ask of the supervisor's models. What changes them is answered when every worker goes by the change. */
import type { ChannelHandler } from '../../../core/channel/channel.ts'
import type { Quantization } from '../../../core/choices/quant-mode.ts'
import { SecretText } from '../../../core/text/secret-text.ts'
import type { QuantizeJobs } from '../../../models/quantize-jobs.ts'
import type { ModelRegistry, RegisterOptions } from '../../../models/registry.ts'
import type { QueuePlace } from '../../../protocol/engine.ts'
import type { ModelSource } from '../../../protocol/model-source.ts'
import type { ModelsPublisher } from './models-publisher.ts'

export interface ModelsCallsDeps {
  readonly registry: Pick<ModelRegistry, 'register' | 'unregister' | 'load' | 'unload' | 'acquire'>
  readonly quantizeJobs: Pick<QuantizeJobs, 'quantize'>
  readonly publisher: Pick<ModelsPublisher, 'publish'>
}

export function modelsHandlers(deps: ModelsCallsDeps): Readonly<Record<string, ChannelHandler>> {
  const { registry, quantizeJobs, publisher } = deps
  const published = async <Result>(change: Promise<Result>): Promise<Result> => {
    try {
      return await change
    } finally {
      await publisher.publish()
    }
  }
  return {
    'models.register': ([id, source, apiKey, options]) =>
      published(
        registry.register(
          String(id),
          withKey(source as ModelSource, apiKey as string | null),
          options as RegisterOptions,
        ),
      ),
    'models.unregister': ([id]) => published(registry.unregister(String(id))),
    'models.load': ([modelId]) => published(registry.load(String(modelId))),
    'models.unload': ([modelId]) => published(registry.unload(String(modelId))),
    'models.quantize': ([modelId, mode, options]) =>
      published(
        quantizeJobs.quantize(String(modelId), mode as Quantization, options as { isOperator: boolean }),
      ),
    'models.whenShared': () => publisher.publish(),
    'models.await': async ([modelId, place], { signal }) => {
      const waiting = registry.acquire(
        modelId as string | null,
        signal,
        (place as QueuePlace | null) ?? undefined,
      )
      const lease = await published(waiting)
      // The worker has taken one of its own with the table, and has said so.
      lease[Symbol.dispose]()
    },
  }
}

/** A secret shows itself to no message, so it comes beside the source. */
function withKey(source: ModelSource, apiKey: string | null): ModelSource {
  if (source.kind !== 'openai') return source
  return { ...source, apiKey: apiKey === null ? null : new SecretText(apiKey) }
}
