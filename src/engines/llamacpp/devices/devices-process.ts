/**
 * The GPUs of this machine and what they have free, for a process that loads no native code: asked of a process of its own,
 * because a driver may take long, or die.
 */
import { fileURLToPath } from 'node:url'
import type { ComputeDevice } from '../../../protocol/compute-device.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import { startChild } from '../../child/child-program.ts'
import { hasGpuLibraries } from '../ffi/library-packages.ts'

const ENTRY = fileURLToPath(new URL('devices-main.js', import.meta.url))
/** A driver that is loaded first may take seconds. */
const ANSWER_TIMEOUT_MS = 30_000

/** None where none may be used, libraries for one are missing, or its driver does not answer: models then run on the processor. */
export async function findGpus({
  gpu,
  gpuLayers,
}: Pick<RunnerOptions, 'gpu' | 'gpuLayers'>): Promise<readonly ComputeDevice[]> {
  if (gpu === 'off' || gpuLayers === 0 || !hasGpuLibraries()) return []
  let found: readonly ComputeDevice[] = []
  const child = startChild<readonly ComputeDevice[]>(
    { entry: ENTRY, options: {} },
    { onMessage: (gpus) => void (found = gpus), onLogLine: () => {} },
  )
  const timer = setTimeout(() => child.kill(), ANSWER_TIMEOUT_MS)
  await child.exited
  clearTimeout(timer)
  return found
}
