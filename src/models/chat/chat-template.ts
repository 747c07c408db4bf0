/**
 * Renders a chat into the prompt that a model was trained on, with the model's own Jinja template. Text that users and tools
 * wrote, names and descriptions of tools included, never becomes a special token: wherever it would, the prompt is cut into
 * two pieces, and pieces are tokenized one by one. Text without special tokens is tokenized exactly as it would be without
 * this step. Takes time in proportion to the chat: long ones are rendered in a thread (`render-thread.ts`).
 */
import { ServiceError } from '../../core/errors.ts'
import { type Chat, mustCall } from '../../protocol/chat.ts'
import type { ToolFormat } from '../../core/choices/tool-format.ts'
import type { TextPrompt } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import { SpecialTexts } from '../../checkpoints/tokenizers/special-texts.ts'
import { type ChosenFormat, chooseFormat, reasoningMarkers } from './formats/choose-format.ts'
import { toTemplateChat } from './template-messages.ts'
import { stricterTurns } from './stricter-turns.ts'
import { TemplateRefusal, TemplateRenderer } from './template-renderer.ts'

/** For models that bring no template: ChatML, the most common one (docs/architecture.md). */
const DEFAULT_CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

/** Unicode's noncharacters U+FDD0 to U+FDEF never stand for text, so one of them can mark a cut. */
const FIRST_NONCHARACTER = 0xfdd0
const NONCHARACTERS = 32
const NONCHARACTER = /[\ufdd0-\ufdef]/g

/** What of a model decides how its chats are rendered. */
export interface TemplateModel extends Pick<
  ModelInfo,
  'bosText' | 'chatTemplate' | 'eosText' | 'maxSeqLen' | 'specialTexts'
> {
  readonly modelId: string
  readonly toolFormat: ToolFormat
}

/** SmolLM3's template looks for tools under this name. */
const READS_XML_TOOLS = /\bxml_tools\b/

export class ChatTemplate {
  readonly #model: TemplateModel
  readonly #template: TemplateRenderer
  readonly #specialTexts: SpecialTexts
  readonly #chosen: ChosenFormat

  /** @throws ServiceError `chat_template_failed` when the template cannot be parsed. */
  constructor(model: TemplateModel) {
    this.#model = model
    this.#template = this.#guard(() => new TemplateRenderer(model.chatTemplate ?? DEFAULT_CHAT_TEMPLATE))
    this.#specialTexts = new SpecialTexts(model.specialTexts)
    this.#chosen = chooseFormat(model)
  }

  /** @throws ServiceError `chat_template_failed` when the template refuses the messages. */
  render(chat: Chat): TextPrompt {
    this.#refuseTooMany(chat.messages.length)
    return this.#guard(() => this.#renderAsTaken(chat))
  }

  /** As it is where the template takes it so. */
  #renderAsTaken(chat: Chat): TextPrompt {
    try {
      return this.#render(chat)
    } catch (refusal) {
      if (!(refusal instanceof TemplateRefusal)) throw refusal
      for (const messages of stricterTurns(chat.messages)) {
        try {
          return this.#render({ ...chat, messages })
        } catch (error) {
          if (!(error instanceof TemplateRefusal)) throw error
        }
      }
      throw refusal
    }
  }

  #render(chat: Chat): TextPrompt {
    const { chatTemplate, bosText, eosText } = this.#model
    const { messages, tools } = toTemplateChat(chat, this.#chosen, chatTemplate)
    const xmlTools = tools !== null && READS_XML_TOOLS.test(chatTemplate ?? '') ? { xml_tools: tools } : {}
    const further = { ...xmlTools, ...withThinking(chat.templateArguments ?? {}) }
    const [mark, end] = unusedCharacters([messages, tools, further])
    const breakUp = (text: string): string => this.#specialTexts.breakUp(text, mark)
    const isContinued = chat.continuesLastMessage === true
    const rendered = this.#template.render(
      {
        messages: messages.map((message, index) => {
          const { role } = message
          const broken = mapTexts(message, breakUp)
          const isCut = isContinued && index === messages.length - 1
          return { ...broken, role, ...(isCut && { content: `${broken.content}${end}` }) }
        }),
        tools: tools === null ? null : mapTexts(tools, breakUp),
        add_generation_prompt: !isContinued && chat.hasGenerationPrompt !== false,
        bos_token: bosText,
        eos_token: eosText,
      },
      mapTexts(further, breakUp),
    )
    const text = isContinued ? cutAt(end, rendered) : rendered + this.#openedCall(chat, rendered)
    // A template writes the first token itself; ours does not know which one a model begins with.
    return { pieces: text.split(mark).filter((piece) => piece !== ''), addSpecial: chatTemplate === null }
  }

  /**
   * The beginning of the call that an answer must make, where it is a control token: no constraint lets a model write that.
   * Reasoning that the template has opened ends before it.
   */
  #openedCall(chat: Chat, rendered: string): string {
    const { trigger } = this.#chosen.format
    if (!mustCall(chat) || !this.#model.specialTexts.includes(trigger)) return ''
    const markers = reasoningMarkers(this.#model.chatTemplate)
    const isOpen = markers !== null && rendered.trimEnd().endsWith(markers.open)
    return isOpen ? `\n${markers.close}\n\n${trigger}` : trigger
  }

  /** A message is a token at least; more of them than the context holds are not worth rendering. */
  #refuseTooMany(given: number): void {
    const max = this.#model.maxSeqLen
    if (max === null || given <= max) return
    throw new ServiceError(
      'context_length_exceeded',
      { given: `at least ${given}`, max },
      { param: 'messages' },
    )
  }

  #guard<T>(act: () => T): T {
    try {
      return act()
    } catch (error) {
      if (error instanceof ServiceError) throw error
      const message = error instanceof Error ? error.message : String(error)
      throw new ServiceError(
        'chat_template_failed',
        { model: this.#model.modelId, message },
        { param: 'messages' },
      )
    }
  }
}

/** Templates have several names for whether a model thinks, and one for how much (`reasoning_effort`, OpenAI's). */
function withThinking(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { reasoning_effort: effort } = given
  if (effort === undefined) return given
  const thinks = effort !== 'none'
  return { enable_thinking: thinks, thinking: thinks, ...given }
}

/** Up to the end of the last message, as transformers does with `continue_final_message`. */
function cutAt(end: string, rendered: string): string {
  const index = rendered.lastIndexOf(end)
  if (index === -1)
    throw new Error('it does not write the last one as it is, so that it cannot be continued.')
  return rendered.slice(0, index)
}

/** The same value with each text in it changed, names of fields included. */
function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  const map = (one: unknown): unknown => {
    if (typeof one === 'string') return change(one)
    if (Array.isArray(one)) return one.map(map)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, field]) => [change(key), map(field)]))
  }
  return map(value) as Value
}

/** Two that no text of the value holds. */
function unusedCharacters(value: unknown): readonly [mark: string, end: string] {
  const used = new Set<string>()
  mapTexts(value, (text) => {
    for (const character of text.match(NONCHARACTER) ?? []) used.add(character)
    return text
  })
  const all = Array.from({ length: NONCHARACTERS }, (_, i) => String.fromCharCode(FIRST_NONCHARACTER + i))
  const [mark, end] = all.filter((character) => !used.has(character))
  if (mark !== undefined && end !== undefined) return [mark, end]
  throw new ServiceError('invalid_request', {
    message: 'messages must leave two of the 32 Unicode noncharacters U+FDD0 to U+FDEF unused.',
  })
}
