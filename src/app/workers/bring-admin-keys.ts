import type { ServerConfig } from '../../config/server-config.ts'
import type { Channel } from '../../core/channel/channel.ts'

/** Gives a worker the admin keys that were replaced while it started: it is not among those that were told. */
export async function bringAdminKeys(
  { channel }: { readonly channel: Pick<Channel, 'call'> },
  started: ServerConfig['adminKey'],
  newest: () => ServerConfig['adminKey'],
): Promise<void> {
  for (let known = started; known !== newest();) {
    known = newest()
    await channel.call('reloadAdminKeys', [known])
  }
}
