/** Headers of an upstream's answer, names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
