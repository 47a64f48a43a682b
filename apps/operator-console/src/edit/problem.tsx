import { ApiError } from '../api/operator-api.ts';

/** Why something did not work, with the fields that are wrong where the control plane names them; nothing while all is well. */
export function Problem({ error }: { error: Error | null | undefined }) {
  if (error === null || error === undefined) return null;
  const fields = error instanceof ApiError ? error.fields : [];
  return (
    <div className="notice bad" role="alert">
      <p>{error.message}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map((field) => (
            <li key={`${field.path} ${field.message}`}>
              <code>{field.path === '' ? 'the document' : field.path}</code> {field.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
