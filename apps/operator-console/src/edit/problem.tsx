import { ApiError } from '../api/call.ts';

/**
 * Why something did not work, with the fields that are wrong where the control plane names them and no field tells
 * it itself (`told`); nothing while all is well.
 */
export function Problem({
  error,
  told,
}: {
  error: Error | null | undefined;
  told?: ((path: string) => boolean) | undefined;
}) {
  if (error === null || error === undefined) return null;
  const all = error instanceof ApiError ? error.fields : [];
  const fields = all.filter(({ path }) => told?.(path) !== true);
  return (
    <div className="notice bad" role="alert">
      <p>{fields.length < all.length ? 'Nothing was saved: the marked fields are not right.' : error.message}</p>
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
