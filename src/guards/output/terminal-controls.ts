/**
 * Control characters that terminals obey: with them, text that somebody reads in a terminal could move the cursor, change
 * what stands there, or set a title. Tab, line feed and carriage return stay: they are text. An escape sequence loses
 * its first character and is plain text from then on.
 */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/
const ALL_CONTROLS = new RegExp(CONTROLS, 'g')

export function removeTerminalControls(text: string): string {
  return CONTROLS.test(text) ? text.replaceAll(ALL_CONTROLS, '') : text
}
