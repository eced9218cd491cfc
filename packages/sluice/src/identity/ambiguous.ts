/**
 * Stands for a value that a request gives in several ways, such as a header on two lines. All such requests share it, so that nobody gets a
 * fresh key by sending one more. It is in parentheses because no path begins so. A client that sends this text itself joins those requests.
 */
export const AMBIGUOUS = '(ambiguous)'
