const SHOWN = 6;

/** What is degraded now, in sentences; says so when nothing is. */
export function Problems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return <p className="notice good">Nothing is degraded.</p>;
  return (
    <section className="notice warn problems" aria-labelledby="problems">
      <h2 id="problems">
        {problems.length} {problems.length === 1 ? 'thing is' : 'things are'} degraded
      </h2>
      <ul>
        {problems.slice(0, SHOWN).map((problem) => (
          <li key={problem}>{readable(problem)}</li>
        ))}
        {problems.length > SHOWN && <li>and {problems.length - SHOWN} more</li>}
      </ul>
    </section>
  );
}

/** Instants of a sentence as the wall clock of whoever reads it. */
export function readable(sentence: string): string {
  return sentence.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => new Date(instant).toLocaleTimeString('en-GB'));
}
