/** The dialogue of `sluice chat`: prompts, commands that begin with a slash, and answers, which Ctrl-C stops. */
import type { Dialogue } from '../../terminal/dialogue.ts'
import { escapeControls } from '../../terminal/terminal-text.ts'
import {
  ChatFailure,
  type SentMessage,
  type ChatRequest,
  type ChatServer,
  streamChat,
} from './chat-client.ts'

export interface DialogueOptions extends Pick<ChatRequest, 'model' | 'temperature' | 'maxTokens'> {
  readonly server: ChatServer
  readonly system: string | null
  readonly dialogue: Dialogue
  /** Shows an answer, with a signal that aborts when it is to stop. */
  readonly whileAnswering: (answer: (signal: AbortSignal) => Promise<string | null>) => Promise<string | null>
}

const PROMPT = '> '
const MORE = '. '
/** Before and after a prompt of several lines. */
const QUOTES = '"""'

const HELP = [
  '/system TEXT   set the system prompt; without text, take it away',
  '/clear         begin a new chat',
  '/exit          end (also Ctrl-D)',
  '"""            begin and end a prompt of several lines',
  'Ctrl-C         stop an answer; on an empty line, end',
]

/** Resolves when the person ends it. */
export async function holdDialogue(options: DialogueOptions): Promise<void> {
  const { dialogue } = options
  let { system } = options
  let messages: readonly SentMessage[] = []
  const say = (line: string) => dialogue.write(`${line}\n`)
  for (;;) {
    const given = await askPrompt(dialogue)
    if (given === null) return
    const prompt = given.trim()
    if (prompt === '') continue
    const [, command, rest = ''] = /^\/(\w+)\s*([\s\S]*)$/.exec(prompt) ?? []
    switch (command) {
      case undefined: {
        const asked: readonly SentMessage[] = [...messages, { role: 'user', content: prompt }]
        const sent = withSystem(system, asked)
        const answer = await options.whileAnswering((signal) => showAnswer(options, sent, signal))
        // What was not answered is not part of the chat.
        if (answer !== null) messages = [...asked, { role: 'assistant', content: answer }]
        break
      }
      case 'exit':
      case 'quit':
      case 'bye':
        return
      case 'help':
        for (const line of HELP) say(line)
        break
      case 'clear':
        messages = []
        say('A new chat.')
        break
      case 'system':
        system = rest === '' ? null : rest
        say(system === null ? 'No system prompt.' : 'The system prompt is set.')
        break
      default:
        say(`There is no command /${command}; /help lists those there are.`)
    }
  }
}

export function withSystem(system: string | null, messages: readonly SentMessage[]): readonly SentMessage[] {
  return system === null ? messages : [{ role: 'system', content: system }, ...messages]
}

/** One line, or those between two lines of quotes; null at the end. */
async function askPrompt(dialogue: Dialogue): Promise<string | null> {
  const first = await dialogue.askLine(PROMPT)
  if (first === null || !first.trimStart().startsWith(QUOTES)) return first
  const lines = [first.trimStart().slice(QUOTES.length)]
  for (let last = lines[0] ?? ''; !last.trimEnd().endsWith(QUOTES); lines.push(last)) {
    const line = await dialogue.askLine(MORE)
    if (line === null) return ''
    last = line
  }
  return lines.join('\n').trimEnd().slice(0, -QUOTES.length)
}

/** Resolves with the answer, a stopped one as far as it came; null where there is none. */
async function showAnswer(
  options: DialogueOptions,
  messages: readonly SentMessage[],
  signal: AbortSignal,
): Promise<string | null> {
  const { dialogue } = options
  let answer = ''
  try {
    for await (const text of writeAnswer({ ...options, messages }, signal)) answer += text
  } catch (error) {
    if (signal.aborted) dialogue.write(`\n${dimmed(dialogue, 'Stopped.')}\n\n`)
    else if (error instanceof ChatFailure) dialogue.write(`${answer === '' ? '' : '\n'}${error.message}\n\n`)
    else throw error
    return answer === '' ? null : answer
  }
  dialogue.write('\n')
  return answer
}

/** Writes an answer and yields its text. @throws ChatFailure, or the signal's reason */
export async function* writeAnswer(
  { server, dialogue, ...request }: ChatRequest & Pick<DialogueOptions, 'server' | 'dialogue'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const pieces = streamChat(server, request, signal)
  let last = '\n'
  const write = (text: string, shown: string): void => {
    if (text !== '') last = text
    dialogue.write(shown)
  }
  for (;;) {
    const { done, value } = await pieces.next()
    if (done === true) {
      if (!last.endsWith('\n')) dialogue.write('\n')
      if (value.isCut && dialogue.isInteractive) dialogue.write(`${dimmed(dialogue, CUT)}\n`)
      return
    }
    const shown = escapeControls(value.text)
    if (value.kind === 'text') {
      write(value.text, shown)
      yield value.text
    } else if (dialogue.isInteractive) {
      // What a model thinks is no part of an answer that a script reads.
      write(value.text, dimmed(dialogue, shown))
    }
  }
}

const CUT = '(cut at its most tokens; --max-tokens allows more)'

function dimmed({ hasColours }: Dialogue, text: string): string {
  return hasColours ? `\u001B[2m${text}\u001B[22m` : text
}
