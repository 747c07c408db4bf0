/** The words of `sluice quantize`: what it takes, and what it asks for once they are read. */
import type { Command } from 'commander'
import { choice, path } from '../../config/value-kinds.ts'
import type { OptionName } from '../../config/options.ts'
import { QUANT_MODES, type QuantMode } from '../../core/quant-mode.ts'
import { addCommandOption, addConfigOption } from '../command-options.ts'

export interface QuantizeCommand {
  readonly mode: QuantMode
  /** Null leaves the file among the converted models only. */
  readonly output: string | null
}

const SOURCE_OPTIONS: readonly OptionName[] = ['modelConfig', 'tokenizer', 'dataDir', 'config']

export function addQuantizeCommand(
  program: Command,
  onCommand: (command: QuantizeCommand, flags: Readonly<Record<string, unknown>>) => void,
): void {
  const quantize = program
    .command('quantize')
    .usage('[options]')
    .description('quantize a checkpoint to a .gguf file, as serve --quantization would')
  addCommandOption(quantize, 'mode', {
    kind: choice(QUANT_MODES),
    defaultText: 'int4',
    help: 'what the weight matrices become',
  })
  addCommandOption(quantize, 'output', {
    kind: path('file'),
    defaultText: 'in the data folder, where serve --quantization finds it',
    help: 'file to write, which must not exist yet',
  })
  addConfigOption(quantize, 'checkpoint', { without: 'required' })
  for (const name of SOURCE_OPTIONS) addConfigOption(quantize, name)
  quantize.action(({ mode = 'int4', output = null }: Partial<QuantizeCommand>) =>
    onCommand({ mode, output }, quantize.opts()),
  )
}
