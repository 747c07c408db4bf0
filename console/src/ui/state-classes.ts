/** How the state of a model looks. */
export const STATE_CLASSES = {
  ready: 'tag good',
  loading: 'tag warn',
  unloaded: 'tag',
  draining: 'tag warn',
  failed: 'tag bad',
} as const
