/**
 * Bodies that the documentation offers to try, by operation: the first stands in its editor. Each is sent to a real server by a test,
 * so each is answered with 200 where what it names is there: a model that can do it, an account, a link.
 */

interface Example {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
}

const QUESTION = { role: 'user', content: 'What is a key-value cache?' }
const ACCOUNT = { email: 'ada@example.org', password: 'correct horse battery' }
const PROMPT = { prompt: 'Once upon a time', max_new_tokens: 32 }
const BATCH = { prompts: ['Once upon a time', 'The weather today is'], max_new_tokens: 32 }
const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, year: { type: 'integer' } },
  required: ['name', 'year'],
  additionalProperties: false,
}
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const one = (value: Example['value']): readonly Example[] => [{ summary: 'An example', value }]

const CHAT: readonly Example[] = [
  { summary: 'A question', value: { messages: [QUESTION], max_tokens: 64 } },
  { summary: 'Streamed', value: { messages: [QUESTION], max_tokens: 64, stream: true } },
  {
    summary: 'JSON by a schema',
    value: {
      messages: [{ role: 'user', content: 'Who wrote the first program, and when?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: PERSON } },
      max_tokens: 64,
    },
  },
  {
    summary: 'With a tool',
    value: {
      messages: [{ role: 'user', content: 'What is the weather in Rome?' }],
      tools: [{ type: 'function', function: WEATHER }],
      max_tokens: 64,
    },
  },
]

const RERANK = [
  {
    summary: 'Of an embedding or a reranking model',
    value: { query: 'quick animals', documents: ['the quick brown fox', 'a lazy dog'] },
  },
]

const TEXTS: readonly Example[] = [
  { summary: 'A text', value: { prompt: 'Once upon a time' } },
  { summary: 'A chat', value: { messages: [QUESTION] } },
]

export const REQUEST_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  generate: one(PROMPT),
  generateStream: one(PROMPT),
  generateBatch: one(BATCH),
  generateContinuousBatch: one(BATCH),
  createChatCompletion: CHAT,
  createResponse: [
    { summary: 'A question', value: { input: QUESTION.content, max_output_tokens: 64 } },
    { summary: 'Streamed', value: { input: QUESTION.content, max_output_tokens: 64, stream: true } },
  ],
  countResponseInputTokens: one({ input: QUESTION.content }),
  createEmbeddings: [
    { summary: 'Of an embedding model', value: { input: ['the quick brown fox', 'a lazy dog'] } },
  ],
  rerank: RERANK,
  rerankV2: RERANK,
  rerankAtRoot: RERANK,
  createCompletion: [
    { summary: 'A text', value: { prompt: 'Once upon a time', max_tokens: 32 } },
    { summary: 'Streamed', value: { prompt: 'Once upon a time', max_tokens: 32, stream: true } },
  ],
  createMessage: [
    { summary: 'A question', value: { messages: [QUESTION], max_tokens: 64 } },
    { summary: 'Streamed', value: { messages: [QUESTION], max_tokens: 64, stream: true } },
  ],
  countMessageTokens: one({ messages: [QUESTION] }),
  tokenize: TEXTS,
  tokenizeV1: TEXTS,
  detokenize: one({ tokens: [1, 2, 3] }),
  detokenizeV1: one({ tokens: [1, 2, 3] }),
  register: one(ACCOUNT),
  login: one(ACCOUNT),
  changePassword: one({ current_password: ACCOUNT.password, new_password: 'a better horse battery' }),
  signIn: one({ token: 'sk-sluice-of-the-link' }),
  createFirstAdmin: one({ ...ACCOUNT, email: 'admin@example.org' }),
  acceptInvitation: one({ token: 'sk-sluice-of-the-invitation', password: ACCOUNT.password }),
  createKey: one({ name: 'notebook', expires_in_days: 90 }),
  renameKey: one({ name: 'notebook of Ada' }),
  changeKey: one({ tier: 'pro', rate_limit_rpm: 120 }),
  createUser: one({ email: 'bob@example.org', password: ACCOUNT.password, tier: 'pro' }),
  changeUser: one({ tier: 'enterprise', daily_token_budget: 1_000_000 }),
  createTeam: one({ name: 'research', monthly_token_budget: 50_000_000 }),
  changeTeam: one({ monthly_token_budget: 80_000_000 }),
  invite: one({ emails: ['cyd@example.org', 'eve@example.org'], tier: 'pro', expires_in_days: 7 }),
  checkModel: [{ summary: 'The bundled model', value: { checkpoint: 'demo', quantization: 'int8' } }],
  registerModel: [{ summary: 'The bundled model', value: { id: 'second', checkpoint: 'demo' } }],
}

/** As OpenAPI has them: by a name. */
export function namedExamples(operationId: string) {
  const examples = REQUEST_EXAMPLES[operationId]
  return examples && Object.fromEntries(examples.map((example, index) => [`example${index + 1}`, example]))
}
