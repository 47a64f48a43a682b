/** A choice of a few, as buttons side by side. */
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { id: T; title: string }[];
  value: T | undefined;
  onChange: (id: T) => void;
}) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {options.map(({ id, title }) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => onChange(id)}>
          {title}
        </button>
      ))}
    </div>
  );
}
