/** Whether a start should tell of a GPU that it leaves unused. */
import type { ServerConfig } from '../../config/server-config.ts'
import { adviseLibraries } from '../../engines/llamacpp/devices/missing-libraries.ts'

type AdvisedConfig = Pick<ServerConfig, 'checkpoint' | 'gpu' | 'gpuLayers' | 'models'>

/** One sentence with the command to run; null where no GPU is wanted, or none is left unused. @param root as of `findSeenGpus` */
export function adviseGpu(
  { checkpoint, gpu, gpuLayers, models }: AdvisedConfig,
  root?: string,
): string | null {
  const isLocal = checkpoint !== null || models.some(({ engine }) => engine !== 'openai')
  if (!isLocal || gpu === 'off' || gpuLayers === 0) return null
  return adviseLibraries(root)
}
