/** The built server whose console is tested, and who is signed in to it. */
import assert from 'node:assert/strict'
import { type BrowserContext, request } from 'playwright-core'
import {
  SMALL_LLAMA,
  listening,
  logged,
  printed,
  type RunningServerProcess,
  spawnServer,
} from '../servers/server-process.ts'

export const ADMIN = { email: 'ada@example.org', password: 'password-of-ada' }

/** Cookies, as a browser keeps them. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

export interface ConsoleServer extends RunningServerProcess {
  /** What the start printed for the first visitor. */
  readonly link: string
}

/** Without keys of its own. */
export async function startConsoleServer(words: readonly string[] = []): Promise<ConsoleServer> {
  const server = await listening(spawnServer(words))
  return { ...server, link: await printed(server, /open (\S+#token=\S+)/) }
}

/** With the small Llama, which is ready. */
export async function startDemoConsole(words: readonly string[]): Promise<ConsoleServer> {
  const server = await startConsoleServer(['--checkpoint', SMALL_LLAMA, '--threads', '1', ...words])
  await logged(server, 'serving')
  return server
}

/** Makes the first admin by the link of the start. */
export async function createAdmin({ link, address }: ConsoleServer): Promise<SignedIn> {
  const client = await request.newContext({ baseURL: address })
  const token = link.split('#token=')[1] ?? ''
  const guest = await client.post('/v1/auth/sign-in', { data: { token } })
  const { csrf_token: csrf } = (await guest.json()) as { csrf_token: string }
  const made = await client.post('/v1/auth/first-admin', { data: ADMIN, headers: { 'x-csrf-token': csrf } })
  assert.equal(made.status(), 200)
  const signedIn = await client.storageState()
  await client.dispose()
  return signedIn
}
