/**
 * The body of `POST /v1/responses`, shaped like OpenAI's (and the Open Responses specification), whose clients send `null` for
 * what they leave out. Nothing is stored: what would need a store is refused by `UNBUILT_RESPONSE_FIELDS`, and `store` itself
 * passes, because clients send it without being asked. Sampling options that OpenAI's lacks are those of the other routes (`schemas/sampling.ts`).
 * `request.ts` makes a generation of the body.
 */
import { z } from 'zod'
import {
  UNBUILT_REASONING_FIELDS,
  UNBUILT_RESPONSE_FIELDS,
} from '../../../net/requests/other-fields/dialects.ts'
import { constraintFields, constraintOf, refuseSeveralConstraints } from '../../schemas/constraints.ts'
import { endFields } from '../../schemas/end-rules.ts'
import {
  boolean,
  generationBody,
  integer,
  modelId,
  must,
  nullableWithDefault,
  oneOf,
  priority,
  seed,
  stopStrings,
  text,
  withoutUnbuilt,
} from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import { maxTokensOrDefault, streamOptionsField } from '../../schemas/openai-fields.ts'
import { samplingFields } from '../../schemas/sampling.ts'
import { templateArgumentsField } from '../../schemas/template-arguments.ts'
import { EFFORTS } from '../../schemas/thinking-fields.ts'
import { ignoreUnasked } from '../../schemas/tool-fields.ts'
import { MAX_TOP_LOGPROBS } from '../token-logprobs.ts'
import { input } from './input.ts'
import { textOptions } from './text-options.ts'
import { findChoiceProblem, responseTools, toolChoice } from './tools.ts'

export const LOGPROBS = 'message.output_text.logprobs'

/** The others ask for parts of tools and inputs that this server has not, or for reasoning that it does not encrypt. */
const INCLUDABLE = [
  LOGPROBS,
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
] as const

const include = longArray(
  z.enum(INCLUDABLE, { error: must(INCLUDABLE.map((name) => `'${name}'`).join(' or ')) }),
  { error: must('an array of names') },
).describe(`\`${LOGPROBS}\` adds the log probability of each token; the others have nothing to add here.`)

const SUMMARIES = ['auto', 'concise', 'detailed'] as const
const reasoningOptions = z.object(
  {
    effort: oneOf(EFFORTS).nullish().describe("Given to the model's template as `reasoning_effort`."),
    summary: oneOf(SUMMARIES)
      .nullish()
      .describe('Any of them gives what the model thinks, whole, as `summary` in place of `content`.'),
    generate_summary: oneOf(SUMMARIES).nullish().describe('The older name of `summary`.'),
  },
  { error: must('an object') },
)

const givenBody = generationBody(
  'ResponseRequest',
  {
    model: nullableWithDefault(modelId(), 'default'),
    input,
    instructions: text().nullish().describe('A system message before the input.'),
    max_output_tokens: maxTokensOrDefault(),
    ...samplingFields(),
    ...endFields(),
    ...constraintFields(),
    stop: nullableWithDefault(stopStrings(), []),
    seed: seed().nullish(),
    priority: nullableWithDefault(priority(), 0),
    top_logprobs: integer(0, MAX_TOP_LOGPROBS).nullish(),
    include: include.nullish(),
    tools: nullableWithDefault(responseTools, []),
    tool_choice: nullableWithDefault(toolChoice, 'auto'),
    parallel_tool_calls: nullableWithDefault(boolean(), true),
    text: textOptions.nullish(),
    reasoning: withoutUnbuilt(reasoningOptions, UNBUILT_REASONING_FIELDS).nullish(),
    chat_template_kwargs: templateArgumentsField(),
    stream: nullableWithDefault(boolean(), false),
    stream_options: streamOptionsField({}),
    // Labels: shown in the answer where they are what OpenAI's types say, and ignored otherwise.
    metadata: z.record(z.string(), z.string()).nullish().catch(null),
    user: z.string().nullish().catch(null),
    safety_identifier: z.string().nullish().catch(null),
    prompt_cache_key: z.string().nullish().catch(null),
  },
  UNBUILT_RESPONSE_FIELDS,
)

export const responsesBody = z
  .preprocess(ignoreUnasked(responseTools), givenBody)
  .superRefine((body, context) => {
    const problem = findChoiceProblem(body.tools, body.tool_choice)
    if (problem !== null) context.addIssue({ code: 'custom', path: ['tool_choice'], message: problem })
    refuseSeveralConstraints(body, context)
    const { constraintField: field } = constraintOf(body)
    if (field === undefined || !body.text?.format?.constraint) return
    const message = 'must not be given beside text.format: an answer keeps to one constraint'
    context.addIssue({ code: 'custom', path: [field], message })
  })

export type ResponsesBody = z.output<typeof responsesBody>
