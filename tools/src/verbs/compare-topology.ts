/** Sentences about where the deployed spine differs from the declared one. */
export async function compareTopology(_spineUrl: string): Promise<string[]> {
  return [];
}
