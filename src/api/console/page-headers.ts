/** Headers of pages that this server shows in a browser: its console and its documentation. */

/**
 * They load nothing from elsewhere, cannot be framed, and send no referrer. No `strict-transport-security`: it would bind
 * every other service on the host.
 * @param styles where styles may come from
 */
export function pageHeaders(styles: string) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  }
}
