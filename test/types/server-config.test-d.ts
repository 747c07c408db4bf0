/** `ServerConfig` has the names and the types of the table of options. Never runs: type checking it is the test. */
import type { OptionValues } from '../../src/config/options.ts'
import type { ServerConfig } from '../../src/config/server-config.ts'

type OfTable = Omit<OptionValues, 'config'>

/** Also tells apart types that differ only in `readonly` or in `any`. */
type Same<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false

type Fields<Type> = { [Name in keyof Type]: Type[Name] }

export const IS_SAME: Same<Fields<ServerConfig>, Fields<OfTable>> = true
