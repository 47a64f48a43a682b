/** What the user can put right: its lines are all that is printed. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** 1 for what went wrong, 2 for a command that cannot be understood. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
