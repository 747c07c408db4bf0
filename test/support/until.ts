/** Waiting for what other processes do, without knowing how long it takes. */

/**
 * Looks again and again until `condition` holds.
 * @throws when it does not for so long; a loop without an end would outlive its test and keep the others waiting.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 100_000,
): Promise<void> {
  const startMs = performance.now()
  while (!(await condition())) {
    if (performance.now() - startMs > limitMs) throw new Error(`waited ${limitMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
