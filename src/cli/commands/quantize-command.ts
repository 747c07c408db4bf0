/** `sluice quantize`: the work of `serve --quantization`, with a progress bar. */
import { StartError } from '../../core/errors.ts'
import { localCheckpoint } from '../../checkpoints/hub/local-checkpoint.ts'
import type { LeftOutTensors } from '../../checkpoints/conversion/conversion-plan.ts'
import { type QuantizedModel, quantizeModel } from '../../checkpoints/quantization/quantize-model.ts'
import { quantizeInProcess } from '../../engines/llamacpp/quantize/quantize-process.ts'
import { createLog } from '../../telemetry/log.ts'
import { resolveModelFile } from '../../checkpoints/model-file.ts'
import {
  checkFullPrecision,
  estimateBytes,
  quantFormat,
} from '../../checkpoints/quantization/quantization-plan.ts'
import { showDownload } from '../terminal/download-progress.ts'
import { checkOutputFile, checkOutputRoom, copyToOutput } from '../terminal/output-file.ts'
import type { QuantizeCommand } from '../command-line.ts'
import { escapeUnseen } from '../terminal/terminal-text.ts'
import type { CommandContext } from '../terminal/terminal.ts'

type QuantizeContext = CommandContext<'checkpoint' | 'modelConfig' | 'tokenizer' | 'dataDir'>

const BAR_CELLS = 30
const EXIT_INTERRUPTED = 130
const BYTES_PER_MB = 1_000_000

/** @throws StartError */
export async function runQuantizeCommand(
  command: QuantizeCommand,
  context: QuantizeContext,
): Promise<number> {
  const { checkpoint } = context.config
  const { terminal } = context
  if (checkpoint === null) throw new StartError('--checkpoint must name what to quantize.', 2)
  const stopping = new AbortController()
  terminal.onSignal(() => stopping.abort())
  const { signal } = stopping
  try {
    const line = await quantize(command, context, { checkpoint, signal })
    terminal.showProgress(null)
    terminal.print(line)
    return 0
  } catch (error) {
    terminal.showProgress(null)
    if (!signal.aborted) throw error
    terminal.complain('sluice: stopped; no quantized file was written.')
    return EXIT_INTERRUPTED
  }
}

/** Returns the line that describes the result. */
async function quantize(
  { mode, output }: QuantizeCommand,
  { config: { modelConfig, tokenizer, dataDir }, terminal, clock }: QuantizeContext,
  { checkpoint, signal }: { readonly checkpoint: string; readonly signal: AbortSignal },
): Promise<string> {
  if (output !== null) await checkOutputFile(output)
  const show = (work: string) => (fraction: number) => terminal.showProgress(progressLine(work, fraction))
  const { model } = await resolveModelFile({
    checkpoint: await localCheckpoint(checkpoint, { ...showDownload({ terminal, clock }), signal }),
    modelConfig,
    tokenizer,
    dataDir,
    isOpened: false,
    onProgress: show('converting'),
    onLeftOut: (tensors) => terminal.complain(leftOutLine(tensors)),
    signal,
  })
  checkFullPrecision(model)
  if (output !== null) await checkOutputRoom(output, estimateBytes(quantFormat(mode, model), model))
  const quantized = await quantizeModel({
    modelId: checkpoint,
    model,
    mode,
    dataDir,
    quantize: quantizeInProcess,
    log: createLog({ level: 'error' }),
    onProgress: show('quantizing'),
    signal,
  })
  if (output !== null) await copyToOutput(quantized.model.path, { output, signal })
  return resultLine(output ?? quantized.model.path, quantized)
}

function resultLine(file: string, { format, layersQuantized, sizeBytes }: QuantizedModel): string {
  const size = `${(sizeBytes / BYTES_PER_MB).toFixed(2)} MB`
  return `${escapeUnseen(file)}: ${format}, ${layersQuantized} matrices changed, ${size}`
}

function leftOutLine({ count, prefixes }: LeftOutTensors): string {
  const named = escapeUnseen(prefixes.join(', '))
  return `sluice: the model takes text only: tensors that read images are left out, ${count} of ${named}`
}

/** `sluice: quantizing [########----] 67 %` */
export function progressLine(work: string, fraction: number): string {
  const filled = Math.round(fraction * BAR_CELLS)
  const bar = '#'.repeat(filled).padEnd(BAR_CELLS, '-')
  return `sluice: ${work} [${bar}] ${Math.round(fraction * 100)} %`
}
