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
