/**
 * Removes the control characters that terminals obey: printed in a terminal, they could move the cursor, change what it
 * shows or set its title. Tab, line feed and carriage return are text and stay. An escape sequence loses its first
 * character and is plain text without it.
 */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/
const ALL_CONTROLS = new RegExp(CONTROLS, 'g')

export function removeTerminalControls(text: string): string {
  return CONTROLS.test(text) ? text.replaceAll(ALL_CONTROLS, '') : text
}
