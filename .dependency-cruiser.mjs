/**
 * What the import picture may not hold, checked by `make lint`. Which project may import which is a rule of
 * `eslint.config.mjs`.
 */
export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Files that import each other cannot be read, tested or moved one at a time. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'stage-imports-no-stage',
      comment: 'A stage of the request path knows its call and the rooms beside the stages, never another stage.',
      severity: 'error',
      from: { path: '^apps/gateway/src/stages/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^apps/gateway/src/stages/', pathNot: '^apps/gateway/src/stages/$1/' },
    },
    {
      name: 'stages-stand-on-top',
      comment: 'What stages use does not know them.',
      severity: 'error',
      from: {
        path: '^apps/gateway/src/(bodies|config|http|metering|planning|refusals|report|upstream)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^apps/gateway/src/stages/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/(node_modules|dist|out-tsc)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@sluice/source', 'import', 'node', 'default'],
    },
  },
};
