/**
 * `sluice chat`: a chat with a model of a running server; where none answers, or a checkpoint is named, with an engine that is
 * started for it and ends with it. Without a terminal one prompt is read from standard input, and its answer alone is written.
 */
import { existsSync } from 'node:fs'
import { BUNDLED_NAME } from '../../../checkpoints/bundled-model.ts'
import { isHubReference } from '../../../checkpoints/hub/hub-reference.ts'
import { StartError } from '../../../core/errors.ts'
import type { ServerConfig } from '../../../config/server-config.ts'
import { DEFAULT_URL } from '../../server-url.ts'
import type { Dialogue } from '../../terminal/dialogue.ts'
import type { CommandContext } from '../../terminal/terminal.ts'
import type { CreateServer } from '../serve.ts'
import { ChatFailure, type ChatServer, listModels } from './chat-client.ts'
import type { CHAT_OPTIONS, ChatCommand } from './chat-command-line.ts'
import { holdDialogue, withSystem, writeAnswer } from './chat-dialogue.ts'
import { startOwnServer } from './own-server.ts'

export interface ChatContext extends CommandContext<(typeof CHAT_OPTIONS)[number]> {
  readonly createServer: CreateServer
  readonly dialogue: Dialogue
  /** Whether the checkpoint stands on the command line, and not only in the environment or a file. */
  readonly isCheckpointGiven: boolean
}

const EXIT_INTERRUPTED = 130

interface OpenedChat {
  readonly server: ChatServer
  readonly model: string | null
  close(): Promise<void>
}

/** Resolves with the exit code. @throws StartError where there is no model to chat with */
export async function runChatCommand(command: ChatCommand, context: ChatContext): Promise<number> {
  const { terminal, dialogue } = context
  let stopping = new AbortController()
  let isAnswering = true
  // The first Ctrl-C stops an answer, or the start; one between answers, or more of them, end the command.
  terminal.onSignal(() => {
    if (!isAnswering || stopping.signal.aborted) terminal.exit(EXIT_INTERRUPTED)
    stopping.abort()
  })
  const chat = await openChat(command, context, stopping.signal)
  try {
    const { temperature, maxTokens, system } = command
    const options = { ...chat, dialogue, temperature, maxTokens, system }
    const prompt = await readPrompt(command, dialogue)
    if (prompt !== null) {
      const messages = withSystem(system, [{ role: 'user', content: prompt }])
      for await (const _ of writeAnswer({ ...options, messages }, stopping.signal));
      return 0
    }
    if (dialogue.isInteractive) {
      terminal.print(
        `Chatting with ${chat.model ?? 'the default model'} at ${chat.server.url}; /help lists the commands.`,
      )
    }
    isAnswering = false
    await holdDialogue({
      ...options,
      whileAnswering: async (answer) => {
        stopping = new AbortController()
        isAnswering = true
        try {
          return await answer(stopping.signal)
        } finally {
          isAnswering = false
        }
      },
    })
    return 0
  } catch (error) {
    if (stopping.signal.aborted) return EXIT_INTERRUPTED
    if (error instanceof ChatFailure) throw new StartError(error.message, 1)
    throw error
  } finally {
    await chat.close()
  }
}

/** Null where a person is to be asked. */
async function readPrompt({ prompt }: ChatCommand, dialogue: Dialogue): Promise<string | null> {
  if (prompt !== null) return prompt
  if (dialogue.isInteractive) return null
  const input = (await dialogue.readInput()).trim()
  if (input === '')
    throw new StartError('There is no prompt: give one with --prompt or on standard input.', 2)
  return input
}

async function openChat(
  command: ChatCommand,
  context: ChatContext,
  signal: AbortSignal,
): Promise<OpenedChat> {
  const { model } = command
  const isCheckpoint = model !== null && command.url === null && namesCheckpoint(model)
  if (isCheckpoint || context.isCheckpointGiven) {
    return await openOwn(isCheckpoint ? model : context.config.checkpoint, context, signal)
  }
  const server = {
    url: command.url ?? DEFAULT_URL,
    apiKey: command.apiKey ?? (context.terminal.env['SLUICE_API_KEY'] || null),
  }
  const models = await listModels(server)
  if (models !== null) return { server, model: chooseModel(server, models, model), close: async () => {} }
  if (command.url !== null) throw new StartError(`No server answers at ${server.url} (--url).`, 1)
  if (model !== null) {
    throw new StartError(
      `No server answers at ${server.url} (--url), and '${model}' is no checkpoint: a path, hf:org/repo[:file] or '${BUNDLED_NAME}'.`,
      1,
    )
  }
  return await openOwn(context.config.checkpoint, context, signal)
}

async function openOwn(
  checkpoint: string | null,
  context: ChatContext,
  signal: AbortSignal,
): Promise<OpenedChat> {
  const { config, dialogue, terminal } = context
  const given: Pick<ServerConfig, (typeof CHAT_OPTIONS)[number]> = {
    ...config,
    checkpoint: checkpoint ?? BUNDLED_NAME,
  }
  if (checkpoint === null && dialogue.isInteractive) {
    terminal.print(
      `No server answers at ${DEFAULT_URL} (--url); starting the demo model. Your own: --checkpoint FILE.`,
    )
  }
  const own = await startOwnServer(given, { ...context, signal })
  const [model = null] = (await listModels(own)) ?? []
  return { server: own, model, close: () => own.close() }
}

/** @throws StartError where the server has no such model, or none that chats */
function chooseModel({ url }: ChatServer, models: readonly string[], model: string | null): string | null {
  const [first] = models
  if (first === undefined) throw new StartError(`${url} serves no model that chats.`, 1)
  // An alias is listed nowhere, so a model that is not there is left to the server to refuse.
  return model ?? first
}

function namesCheckpoint(text: string): boolean {
  return isHubReference(text) || text === BUNDLED_NAME || existsSync(text)
}
