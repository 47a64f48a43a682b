import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  base: '/_console/',
  plugins: [react()],
  resolve: { conditions: ['@sluice/source', ...defaultClientConditions] },
  build: { outDir: 'dist', emptyOutDir: true },
});
