/**
 * Authenticates against a full server's database file, read beside that server or without it. For the light server, which
 * imports this only when it is given such a file.
 */
import type { Clock } from '../../core/clock.ts'
import { CredentialFile, type CredentialFileOptions } from '../../storage/sqlite/credential-file.ts'
import { type Authenticator, createKeyAuthenticator } from '../authenticator.ts'

export interface KeyFile extends Authenticator {
  close(): Promise<void>
}

/** @throws StartError when the file cannot be read as it is now. */
export async function openKeyFile(file: CredentialFileOptions, clock: Clock): Promise<KeyFile> {
  const credentials = await CredentialFile.open(file)
  return { ...createKeyAuthenticator({ credentials, clock }), close: () => credentials.close() }
}
