import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { licences } from './licences.ts';

const { page, worker } = licences();
/** `npm run dev` next to `skyhouse demo`, or another service. */
const SERVICE = process.env['SKYHOUSE_DEV'] ?? 'http://127.0.0.1:8000';

// Relative addresses, so that the portal works wherever the service is mounted.
export default defineConfig({
    base: './',
    plugins: [svelte(), page()],
    build: {
        ...{ target: 'es2023', assetsInlineLimit: 0, chunkSizeWarningLimit: 800 },
        rollupOptions: { input: ['index.html', 'aladin.html'] },
    },
    worker: { format: 'es', plugins: () => [worker()] },
    server: { proxy: Object.fromEntries(['/tap', '/portal.json', '/aladin.js'].map((path) => [path, SERVICE])) },
    test: { include: ['src/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
});
