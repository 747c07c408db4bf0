/** The commands for operators as they run at a terminal, on a database file of their own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { whenUnused } from '../shared.ts'
import { run } from '../../../src/cli/run.ts'
import type { Dialogue } from '../../../src/cli/terminal/dialogue.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { type AccountServices, createAccountServices } from './account-services.ts'

interface CommandResult {
  readonly exitCode: number
  /** All of standard output. */
  readonly printed: string
  readonly complaints: readonly string[]
}

export interface OperatorScene {
  readonly folder: string
  /** The database of accounts and keys; not there yet. */
  readonly file: string
  readonly clock: VirtualClock
  /** Runs a command on the database, unless it names another. */
  readonly sluice: (...words: string[]) => Promise<CommandResult>
  /** Standard output of a command that must end well. */
  readonly output: (...words: string[]) => Promise<string>
  /** What a server that holds the same database open has. */
  readonly openServer: () => Promise<AccountServices>
}

export interface OperatorSceneOptions {
  /** @default names the database */
  readonly env?: Readonly<Record<string, string>>
  /** Of `sluice chat`. */
  readonly dialogue?: Dialogue
  /** Whether nothing that is printed can be written, as to a full disk. @default false */
  readonly losesOutput?: boolean
  /** Called with what a command does at a signal. */
  readonly onSignal?: (handler: () => void) => void
  /** Called where a command ends the process. */
  readonly onExit?: (code: number) => void
}

export function createOperatorScene({
  env,
  dialogue,
  losesOutput = false,
  onSignal = () => {},
  onExit = () => {},
}: OperatorSceneOptions = {}): OperatorScene {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-cli-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'api.db')
  const clock = new VirtualClock()

  const sluice = async (...words: string[]): Promise<CommandResult> => {
    const printed: string[] = []
    const complaints: string[] = []
    const exitCode = await run(words, {
      terminal: {
        env: env ?? { SLUICE_API_DB: file },
        print: (line, onLost) => (losesOutput ? onLost?.() : void printed.push(line)),
        complain: (line) => void complaints.push(line),
        showProgress: () => {},
        onSignal,
        onHangUp: () => {},
        onReplace: () => {},
        notifyReady: () => {},
        exit: onExit,
      },
      clock,
      defaults: {},
      ...(dialogue && { dialogue }),
      createServer: () => Promise.reject(new Error('The server was started.')),
    })
    return { exitCode, printed: printed.join('\n'), complaints }
  }

  const output = async (...words: string[]): Promise<string> => {
    const { exitCode, printed, complaints } = await sluice(...words)
    if (exitCode !== 0 || complaints.length > 0) {
      throw new Error(`sluice ${words.join(' ')} ended with ${exitCode}: ${complaints.join('\n')}`)
    }
    return printed
  }

  return { folder, file, clock, sluice, output, openServer: () => createAccountServices({ location: file }) }
}
