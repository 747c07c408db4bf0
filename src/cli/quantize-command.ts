/** `sluice quantize`: the work that `serve --quantization` does when it loads a model, with a bar to watch. */
import { copyFile, rename, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { quantizeModel } from '../server/quantize-model.ts'
import { createLog } from '../telemetry/log.ts'
import { badFile, fileError, isMissing } from '../weights/file-errors.ts'
import { resolveModelFile } from '../weights/model-file.ts'
import { checkFullPrecision } from '../weights/quantization-plan.ts'
import type { QuantizeCommand } from './quantize-command-line.ts'
import type { Terminal } from './terminal.ts'

export interface QuantizeContext {
  readonly config: Pick<ServerConfig, 'checkpoint' | 'modelConfig' | 'tokenizer' | 'dataDir'>
  readonly terminal: Terminal
}

const BAR_CELLS = 30
const EXIT_INTERRUPTED = 130
const BYTES_PER_MB = 1_000_000

/** @throws StartError */
export async function runQuantizeCommand(
  { mode, output }: QuantizeCommand,
  { config, terminal }: QuantizeContext,
): Promise<number> {
  const { checkpoint, modelConfig, tokenizer, dataDir } = config
  if (checkpoint === null) throw new StartError('--checkpoint must name what to quantize.', 2)
  if (output !== null) await checkWritable(output)
  const stopping = new AbortController()
  terminal.onSignal(() => stopping.abort())
  const show = (work: string) => (fraction: number) => terminal.showProgress(progressLine(work, fraction))
  const { signal } = stopping
  try {
    const { model } = await resolveModelFile({
      checkpoint,
      modelConfig,
      tokenizer,
      dataDir,
      onProgress: show('converting'),
      signal,
    })
    checkFullPrecision(model)
    const quantized = await quantizeModel({
      modelId: checkpoint,
      model,
      mode,
      dataDir,
      log: createLog({ level: 'silent' }),
      servedBytes: 0,
      onProgress: show('quantizing'),
      signal,
    })
    if (output !== null) await copyWhole(quantized.model.path, output)
    terminal.showProgress(null)
    const { format, layersQuantized, sizeBytes } = quantized
    const size = `${(sizeBytes / BYTES_PER_MB).toFixed(2)} MB`
    terminal.print(
      `${output ?? quantized.model.path}: ${format}, ${layersQuantized} matrices changed, ${size}`,
    )
    return 0
  } catch (error) {
    terminal.showProgress(null)
    if (!signal.aborted) throw error
    terminal.complain('sluice: stopped; nothing was written.')
    return EXIT_INTERRUPTED
  }
}

/** `sluice: quantizing [########----] 67 %` */
export function progressLine(work: string, fraction: number): string {
  const filled = Math.round(fraction * BAR_CELLS)
  const bar = '#'.repeat(filled).padEnd(BAR_CELLS, '-')
  return `sluice: ${work} [${bar}] ${Math.round(fraction * 100)} %`
}

/** Before the work, which may take minutes. */
async function checkWritable(file: string): Promise<void> {
  const folder = path.dirname(file)
  const { isFolder } = await stat(folder).then(
    (found) => ({ isFolder: found.isDirectory() }),
    () => ({ isFolder: false }),
  )
  if (!isFolder) throw badFile(folder, 'is not a folder; --output must name a file in one that exists')
  try {
    await stat(file)
  } catch (error) {
    if (isMissing(error)) return
    throw fileError('write', file, error)
  }
  throw badFile(file, 'exists already; --output must name a new file')
}

/** Under its name it is whole or not there. */
async function copyWhole(from: string, to: string): Promise<void> {
  const temporaryPath = path.join(path.dirname(to), `.${path.basename(to)}.${newId()}.tmp`)
  try {
    await copyFile(from, temporaryPath)
    await rename(temporaryPath, to)
  } catch (error) {
    await unlink(temporaryPath).catch(() => {})
    throw fileError('write', to, error)
  }
}
