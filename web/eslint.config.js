import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
    { ignores: ['dist', 'node_modules'] },
    ...ts.configs.recommended,
    ...svelte.configs.recommended,
    {
        files: ['**/*.svelte', '**/*.svelte.ts'],
        languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    },
    {
        rules: {
            '@typescript-eslint/no-explicit-any': 'error',
            // the page's hash addresses are not framework routes
            'svelte/no-navigation-without-resolve': 'off',
        },
    },
);
