/** The arguments of `sluice chat`. */
import type { Command } from 'commander'
import type { OptionName } from '../../../config/options.ts'
import { modelName, upstreamSecret } from '../../../config/upstream-kinds.ts'
import { textLike, wholeNumber } from '../../../config/value-kinds.ts'
import {
  addCommandOption,
  addConfigOption,
  addOptionalArgument,
  type OnCommand,
} from '../../command-options.ts'
import { DEFAULT_URL, serverUrl } from '../../server-url.ts'

export interface ChatCommand {
  /** The id of a served model, or a checkpoint; null takes the server's default, else the bundled one. */
  readonly model: string | null
  /** Null asks at the default URL, and starts an engine where nothing answers. */
  readonly url: string | null
  /** Null takes `SLUICE_API_KEY`, if that is set. */
  readonly apiKey: string | null
  /** Null asks for prompts. */
  readonly prompt: string | null
  readonly system: string | null
  readonly temperature: number | null
  readonly maxTokens: number | null
}

/** Read as by `serve`, for the engine that is started where no server answers. */
export const CHAT_OPTIONS = [
  'checkpoint',
  'modelConfig',
  'tokenizer',
  'quantization',
  'maxSeqLen',
  'gpu',
  'gpuLayers',
  'threads',
  'dataDir',
] as const satisfies readonly OptionName[]

const anyText = textLike('text', 'text', (text) => text !== '')
const temperature = textLike('number', 'a number from 0 to 2', (text) =>
  /^(?:[01](?:\.\d+)?|2(?:\.0+)?)$/.test(text),
)

interface ChatFlags {
  readonly url?: string
  readonly apiKey?: string
  readonly prompt?: string
  readonly system?: string
  readonly temperature?: string
  readonly maxTokens?: number
}

export function addChatCommand(program: Command, onCommand: OnCommand<ChatCommand>): void {
  const chat = program
    .command('chat')
    .usage('[options] [model]')
    .description('chat with a model: of a running server, or of an engine that is started for it')
  addOptionalArgument(chat, { ...modelName, placeholder: 'model' }, 'model')
  addCommandOption(chat, 'url', {
    kind: serverUrl,
    defaultText: `${DEFAULT_URL}; where nothing answers, an engine is started`,
    help: 'where the server listens',
  })
  addCommandOption(chat, 'apiKey', {
    kind: upstreamSecret,
    defaultText: 'SLUICE_API_KEY',
    help: 'key for the server: text, env:NAME or @FILE',
  })
  addCommandOption(chat, 'prompt', {
    kind: anyText,
    defaultText: 'asked for, or read from standard input',
    help: 'print one answer and end',
  })
  addCommandOption(chat, 'system', { kind: anyText, defaultText: 'none', help: 'system prompt' })
  addCommandOption(chat, 'temperature', {
    kind: temperature,
    defaultText: "the server's",
    help: 'randomness of the answers; 0 is none',
  })
  addCommandOption(chat, 'maxTokens', {
    kind: wholeNumber({ min: 1, max: 1_000_000 }),
    defaultText: "the server's; with an engine of its own as many as fit",
    help: 'most tokens of an answer',
  })
  const heading = 'Engine, where no server answers'
  addConfigOption(chat, 'checkpoint', { heading, without: 'default: the demo model' })
  for (const name of [...CHAT_OPTIONS.slice(1), 'config'] as const) addConfigOption(chat, name, { heading })
  chat.action((model: string | undefined, flags: ChatFlags) =>
    onCommand(
      {
        model: model ?? null,
        url: flags.url ?? null,
        apiKey: flags.apiKey ?? null,
        prompt: flags.prompt ?? null,
        system: flags.system ?? null,
        temperature: flags.temperature === undefined ? null : Number(flags.temperature),
        maxTokens: flags.maxTokens ?? null,
      },
      chat.opts(),
    ),
  )
}
