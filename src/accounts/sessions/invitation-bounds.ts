/** Bounds of an invitation, for the API and the command line. */

/** E-mail addresses that are pasted at once. */
export const MAX_INVITED = 100

export const INVITATION_DAYS = { min: 1, max: 90, default: 7 }
