import { z } from 'zod';
import { CredentialInput, Name, type Provider, type ProviderInput } from '@sluice/contracts';
import { ProblemError, type SecretBox } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import { maskProvider, maskRow, sealProvider } from '../config/provider-secrets.ts';
import { param } from './actor.ts';
import { editRow, findRow } from './config-edit.ts';
import { etagOf } from './if-match.ts';
import { route, type Route, type RouteCall } from './route.ts';

const CredentialsView = z.object({ provider: Name, version: z.int(), credentials: z.array(CredentialInput) });

/** Accounts at a provider, one by one. Their version is the provider's. */
export function credentialRoutes({
  store,
  secretBox,
}: {
  store: ConfigStore;
  secretBox?: SecretBox | undefined;
}): Route[] {
  const providerOf = (call: RouteCall<unknown, unknown>): Provider => {
    const provider = findRow(store, 'providers', param(call, 'id'));
    if (provider === undefined) throw new ProblemError(404, 'Not found');
    return provider;
  };
  const view = (call: RouteCall<unknown, unknown>, id: string) => {
    const provider = findRow(store, 'providers', id);
    const version = store.rowVersion('providers', id) ?? 0;
    call.res.set('etag', etagOf(version));
    return { provider: id, version, credentials: provider === undefined ? [] : maskProvider(provider).credentials };
  };
  const write = async (
    call: RouteCall<unknown, unknown>,
    old: Provider,
    credentials: ProviderInput['credentials'],
    type: string,
  ): Promise<void> => {
    const sealed = sealProvider({ ...old, credentials }, old, secretBox);
    if ('faults' in sealed) {
      throw new ProblemError(400, 'The change is not possible', {
        type: 'invalid-configuration',
        errors: sealed.faults.map(({ path, message }) => ({ path: path.replace(/^credentials\.\d+\./, ''), message })),
      });
    }
    await editRow(store, call, { table: 'providers', id: old.id, value: sealed.provider, type, show: maskRow });
  };

  return [
    route({
      method: 'get',
      path: '/api/providers/:id/credentials',
      auth: 'viewer',
      tag: 'Providers',
      summary: "A provider's credentials, never a secret; ETag is the provider's version",
      response: CredentialsView,
      handler: (call) => view(call, providerOf(call).id),
    }),
    route({
      method: 'put',
      path: '/api/providers/:id/credentials/:credential',
      auth: 'admin',
      tag: 'Providers',
      summary: 'Add a credential or change one; a secret that is entered is stored encrypted and never shown again',
      precondition: 'required',
      body: CredentialInput.partial({ id: true }),
      response: CredentialsView,
      handler: async (call) => {
        const provider = providerOf(call);
        const id = param(call, 'credential');
        if (call.body.id !== undefined && call.body.id !== id)
          throw new ProblemError(400, 'The change is not possible', {
            errors: [{ path: 'id', message: `must be ${id}, the name in the path` }],
          });
        const written = CredentialInput.parse({ ...call.body, id });
        const { credentials } = maskProvider(provider);
        const there = credentials.some((credential) => credential.id === id);
        const next = there
          ? credentials.map((credential) => (credential.id === id ? written : credential))
          : [...credentials, written];
        await write(call, provider, next, there ? 'provider.credential_changed' : 'provider.credential_added');
        return view(call, provider.id);
      },
    }),
    route({
      method: 'delete',
      path: '/api/providers/:id/credentials/:credential',
      auth: 'admin',
      tag: 'Providers',
      summary: 'Remove a credential; the last one of a provider stays',
      precondition: 'required',
      status: 204,
      handler: async (call) => {
        const provider = providerOf(call);
        const id = param(call, 'credential');
        const { credentials } = maskProvider(provider);
        const left = credentials.filter((credential) => credential.id !== id);
        if (left.length === credentials.length) throw new ProblemError(404, 'Not found');
        if (left.length === 0)
          throw new ProblemError(409, 'It is in use', {
            type: 'in-use',
            detail: `It is the last credential of provider ${provider.id}. Add another first, or delete the provider.`,
          });
        await write(call, provider, left, 'provider.credential_removed');
      },
    }),
  ];
}
