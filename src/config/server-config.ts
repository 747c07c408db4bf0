/**
 * What a server is started with, after every default has been filled in and every rule checked. Made by `loadConfig`
 * (command line, environment, file) or `completeConfig` (code); frozen, and never read from anywhere else. Names and
 * types come from the table of options; null means "not given" where an option has no fixed default.
 */
import type { OptionValues } from './options.ts'

export type ServerConfig = Omit<OptionValues, 'config'>
