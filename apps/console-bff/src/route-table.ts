import type { ScopedRoute } from './routes/scoped-route.ts';
import { ACCESS_ROUTES } from './routes/access-routes.ts';
import { ALERT_ROUTES } from './routes/alert-routes.ts';
import { SETTING_ROUTES } from './routes/setting-routes.ts';
import { USAGE_ROUTES } from './routes/usage-routes.ts';

/**
 * Every route that shows or changes something of a workspace, but for the playground, which is made with its
 * gateway. The application, its description and the isolation tests are all made from this list.
 */
export const SCOPED_ROUTES: readonly ScopedRoute[] = [
  ...USAGE_ROUTES,
  ...ACCESS_ROUTES,
  ...SETTING_ROUTES,
  ...ALERT_ROUTES,
];
