/** `POST /tokenize` and `/detokenize` **ext**, in vLLM's shapes. */
import { z } from 'zod'
import type { TokenizeWork, Tokens } from '../../../generation/tokens.ts'
import {
  addUnsupported,
  anyTokenId,
  arrayOf,
  boolean,
  generationBody,
  modelId,
  must,
  nullableWithDefault,
  text,
} from '../../schemas/fields.ts'
import { UNBUILT_TOKENIZE_FIELDS } from '../../../net/requests/other-fields/dialects.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import type { Chat } from '../../../protocol/chat.ts'
import type { AnswerOf } from '../frames.ts'
import { message } from '../openai-chat/message.ts'
import { checkTools, ignoreUnaskedTools, toChat, toolFields } from '../openai-chat/tools.ts'

const givenBody = generationBody(
  'TokenizeRequest',
  {
    model: nullableWithDefault(modelId(), 'default'),
    prompt: text().nullish().describe('The text; or `messages` in its place.'),
    messages: arrayOf(message, { min: 1, max: Infinity, of: 'message' })
      .nullish()
      .describe(
        "A chat, as the model's template writes it in front of an answer; with the fields of a chat below.",
      ),
    ...toolFields(),
    add_generation_prompt: boolean()
      .nullish()
      .describe('`false`: without the beginning of an answer behind the messages. True when left out.'),
    add_special_tokens: boolean()
      .nullish()
      .describe("Whether the tokenizer's own first token is put in front of `prompt`; true when left out."),
    return_token_strs: nullableWithDefault(boolean(), false).describe(
      'Whether each token is also given as the vocabulary writes it.',
    ),
  },
  UNBUILT_TOKENIZE_FIELDS,
)

const tokenizeBody = z.preprocess(ignoreUnaskedTools, givenBody).superRefine((body, context) => {
  const { prompt, messages, add_special_tokens: addSpecial } = body
  const hasPrompt = typeof prompt === 'string'
  if (hasPrompt === Array.isArray(messages)) {
    const problem = hasPrompt ? 'must not be given beside messages' : 'or messages is required'
    context.addIssue({ code: 'custom', path: ['prompt'], message: problem })
  }
  if (Array.isArray(messages)) checkTools({ ...asChatBody(body), messages }, context)
  if (!hasPrompt && addSpecial === true) {
    const why = "the model's template writes the special tokens of a chat"
    addUnsupported(context, ['add_special_tokens'], `must be false beside messages, but was true: ${why}`)
  }
})

export const tokenizeRequest = tokenizeBody.transform((body): TokenizeWork => {
  const { model, prompt, messages, add_special_tokens: addSpecial, return_token_strs: wantsTexts } = body
  const input =
    messages === null || messages === undefined
      ? ({ kind: 'text', text: prompt ?? '', addSpecial: addSpecial ?? true } as const)
      : ({ kind: 'chat', chat: { ...toChat({ ...asChatBody(body), messages }), ...toCut(body) } } as const)
  return { modelId: model, input, wantsTexts }
})

type PromptEnd = Pick<z.output<typeof tokenizeBody>, 'add_generation_prompt' | 'continue_final_message'>

/** In chat completions `add_generation_prompt: false` continues the last message; here, as in vLLM, it ends the prompt. */
function asChatBody<Body extends PromptEnd>(body: Body): Body {
  return body.continue_final_message ? body : { ...body, add_generation_prompt: null }
}

function toCut({
  add_generation_prompt: isBegun,
  continue_final_message: isContinued,
}: PromptEnd): Pick<Chat, 'hasGenerationPrompt'> {
  return isBegun === false && !isContinued ? { hasGenerationPrompt: false } : {}
}

export const tokenizeResponse = z
  .object({
    count: z.int(),
    max_model_len: z.int().nullable().describe('Tokens of the context; null where it has no limit.'),
    tokens: z.array(z.int()),
    token_strs: z.array(z.string()).nullable().describe('With `return_token_strs` only.'),
  })
  .meta({ id: 'TokenizeResponse' })

export function toTokenizeResponse({
  tokenIds,
  texts,
  maxSeqLen,
}: Tokens): AnswerOf<typeof tokenizeResponse> {
  return { count: tokenIds.length, max_model_len: maxSeqLen, tokens: [...tokenIds], token_strs: texts }
}

export const detokenizeRequest = generationBody('DetokenizeRequest', {
  model: nullableWithDefault(modelId(), 'default'),
  tokens: longArray(anyTokenId(), { error: must('an array of token ids') }).describe(
    'At most as many as the context holds.',
  ),
}).transform(({ model, tokens }) => ({ modelId: model, tokenIds: tokens }))

export const detokenizeResponse = z
  .object({ prompt: z.string().describe('Control tokens are written out.') })
  .meta({ id: 'DetokenizeResponse' })
