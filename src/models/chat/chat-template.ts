/**
 * Renders a chat into the prompt that a model was trained on, with the model's own Jinja template. Text that users
 * wrote never becomes a special token: wherever it would, the prompt is cut into two pieces, and pieces are
 * tokenized one by one. Text without special tokens is tokenized exactly as it would be without this step. Takes time in
 * proportion to the chat: long ones are rendered in a thread (`render-thread.ts`).
 */
import { ServiceError } from '../../core/errors.ts'
import type { ChatMessage } from '../../protocol/chat.ts'
import type { ModelInfo, Prompt } from '../../protocol/engine.ts'
import { SpecialTexts } from '../../checkpoints/tokenizers/special-texts.ts'
import { TemplateRenderer } from './template-renderer.ts'

/** For models that bring no template: ChatML, the most common one (docs/architecture.md). */
const DEFAULT_CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

/** Unicode's noncharacters U+FDD0 to U+FDEF never stand for text, so one of them can mark a cut. */
const FIRST_NONCHARACTER = 0xfdd0
const NONCHARACTERS = 32

/** What of a model decides how its chats are rendered. */
export interface TemplateModel extends Pick<
  ModelInfo,
  'bosText' | 'chatTemplate' | 'eosText' | 'maxSeqLen' | 'specialTexts'
> {
  readonly modelId: string
}

export class ChatTemplate {
  readonly #model: TemplateModel
  readonly #template: TemplateRenderer
  readonly #specialTexts: SpecialTexts

  /** @throws ServiceError `chat_template_failed` when the template cannot be parsed. */
  constructor(model: TemplateModel) {
    this.#model = model
    this.#template = this.#guard(() => new TemplateRenderer(model.chatTemplate ?? DEFAULT_CHAT_TEMPLATE))
    this.#specialTexts = new SpecialTexts(model.specialTexts)
  }

  /** @throws ServiceError `chat_template_failed` when the template refuses the messages. */
  render(messages: readonly ChatMessage[]): Prompt {
    this.#refuseTooMany(messages.length)
    const mark = unusedCharacter(messages)
    const rendered = this.#guard(() =>
      this.#template.render({
        messages: messages.map(({ role, content }) => ({
          role,
          content: this.#specialTexts.breakUp(content, mark),
        })),
        bos_token: this.#model.bosText,
        eos_token: this.#model.eosText,
      }),
    )
    return { pieces: rendered.split(mark).filter((piece) => piece !== ''), addSpecial: false }
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
      const message = error instanceof Error ? error.message : String(error)
      throw new ServiceError(
        'chat_template_failed',
        { model: this.#model.modelId, message },
        { param: 'messages' },
      )
    }
  }
}

function unusedCharacter(messages: readonly ChatMessage[]): string {
  for (let i = 0; i < NONCHARACTERS; i++) {
    const character = String.fromCharCode(FIRST_NONCHARACTER + i)
    if (messages.every(({ content }) => !content.includes(character))) return character
  }
  throw new ServiceError('invalid_request', {
    message: 'messages must not use all 32 Unicode noncharacters U+FDD0 to U+FDEF.',
  })
}
