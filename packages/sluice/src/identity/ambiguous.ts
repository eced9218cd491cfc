/**
 * Stands for a value that a request gives in several ways, such as a header on two lines. All such requests share it, so that nobody gets a
 * fresh key by sending one more. In parentheses, since no path begins so; a client that sends this text joins those requests.
 */
export const AMBIGUOUS = '(ambiguous)'
