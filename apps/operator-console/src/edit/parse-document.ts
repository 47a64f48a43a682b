/** A document as people edit it. */
export const showDocument = (value: unknown): string => JSON.stringify(value, null, 2);

/** The document of a text, or what is wrong with the text. */
export function parseDocument(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}` };
  }
}
