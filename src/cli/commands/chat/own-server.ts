/** A server of this process alone, for a chat: on a port that the system chooses, with a key of its own and no data kept. */
import { randomBytes } from 'node:crypto'
import { completeConfig } from '../../../config/resolve.ts'
import type { ServerConfig } from '../../../config/server-config.ts'
import type { Clock } from '../../../core/clock.ts'
import { showDownload } from '../../terminal/download-progress.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { CreateServer } from '../serve.ts'
import type { ChatServer } from './chat-client.ts'
import type { CHAT_OPTIONS } from './chat-command-line.ts'

export interface OwnServer extends ChatServer {
  close(): Promise<void>
}

interface OwnServerDeps {
  readonly createServer: CreateServer
  readonly terminal: Terminal
  readonly clock: Clock
  /** Ends the start. */
  readonly signal: AbortSignal
}

/** Resolves when the model is loaded. @throws StartError */
export async function startOwnServer(
  config: Pick<ServerConfig, (typeof CHAT_OPTIONS)[number]>,
  { createServer, terminal, clock, signal }: OwnServerDeps,
): Promise<OwnServer> {
  const apiKey = randomBytes(24).toString('hex')
  const server = await createServer(
    completeConfig({
      ...config,
      ...{
        host: '127.0.0.1',
        port: 0,
        apiKeys: [apiKey],
        apiDb: ':memory:',
        usageDb: ':memory:',
      },
      ...{ disableConsole: true, maxBatchSize: 1, defaultMaxTokens: 'context', logLevel: 'error' },
    }),
    {
      ...showDownload({ terminal, clock }),
      signal,
      onLoadProgress: (modelId, fraction) =>
        terminal.showProgress(`sluice: loading ${modelId} ${Math.round(fraction * 100)} %`),
    },
  )
  try {
    await server.loaded
  } catch (error) {
    await server.close()
    throw error
  } finally {
    terminal.showProgress(null)
  }
  return { url: `${server.address}/`, apiKey, close: () => server.close() }
}
