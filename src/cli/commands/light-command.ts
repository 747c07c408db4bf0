/** `sluice light`: starts the light server and runs until a signal, as `serve` does. */
import { LightServer } from '../../light/light-server.ts'
import { lightServerDeps } from '../../app/create-light-server.ts'
import { adviseGpu } from '../../app/doctor/gpu-advice.ts'
import { showsStacks, toFailure } from '../failure.ts'
import type { LIGHT_OPTIONS, LightCommand } from '../command-line.ts'
import { PASSTHROUGH_SERVES } from './describe-start.ts'
import { firstSignal, stayUntilStopped } from './serve.ts'
import type { CommandContext } from '../terminal/terminal.ts'

/** @throws StartError, and Node's own error when the address cannot be listened on. */
export async function runLightCommand(
  { publicPaths, ...own }: LightCommand,
  { config, terminal, clock }: CommandContext<(typeof LIGHT_OPTIONS)[number]>,
): Promise<number> {
  const { logLevel, ...shared } = config
  const stopped = firstSignal({ terminal, clock })
  const onError = (error: unknown, requestId: string | null): void => {
    const { line } = toFailure(error, showsStacks({ logLevel }))
    terminal.complain(requestId === null ? line : `${line} (request ${requestId})`)
  }
  const server = new LightServer(
    { ...shared, ...own, ...(publicPaths !== null && { publicPaths }), onError },
    lightServerDeps({ keyDbOption: '--key-db' }),
  )
  // It has nothing to read again, and lives on as any server does when its terminal is closed.
  terminal.onHangUp(() => {})
  // A signal ends a download as well, and closes the server in any state.
  let isStopped = false
  void stopped.then(() => {
    isStopped = true
    return server.close()
  })
  const address = await server.listen().catch((error: unknown) => {
    if (isStopped) return null
    throw error
  })
  // Stopped before its checkpoint was open.
  if (address === null) return 0
  terminal.print(`sluice: listening on ${address.url}`)
  const advice = adviseGpu({ ...config, models: [] })
  if (advice !== null) terminal.complain(`sluice: ${advice}`)
  if (config.checkpoint === null) terminal.print(PASSTHROUGH_SERVES)
  return await stayUntilStopped(server, { ...config, stopped, terminal })
}
