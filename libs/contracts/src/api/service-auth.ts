/**
 * Internal calls carry `Authorization: Bearer <token>`, one token per pair of services, from these environment
 * variables. The BFF's calls also carry the signed principal in `x-sluice-principal`.
 */
export const SERVICE_TOKEN_ENV = {
  gatewayToControlPlane: 'SLUICE_TOKEN_GATEWAY',
  bffToControlPlane: 'SLUICE_TOKEN_BFF',
  routerToControlPlane: 'SLUICE_TOKEN_ROUTER_CP',
  callersToRouter: 'SLUICE_TOKEN_ROUTER',
} as const;

/** `<base64url of the principal's JSON with exp>.<base64url HMAC-SHA256>`; valid for 60 s. */
export const PRINCIPAL_HEADER = 'x-sluice-principal';
export const PRINCIPAL_SIGNING_KEY_ENV = 'SLUICE_PRINCIPAL_KEY';
export const PRINCIPAL_TTL_S = 60;
