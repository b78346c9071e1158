export const common = {
    product: 'Skyhouse',
    close: 'Close',
    cancel: 'Cancel',
    loading: 'Loading …',
    skip: 'Skip to content',
    navigation: 'Pages',
    pages: { query: 'Query', tables: 'Tables', examples: 'Examples', jobs: 'Jobs', uploads: 'Upload' },
    theme: { label: 'Theme', auto: 'System', light: 'Light', dark: 'Dark' },
    news: 'Notifications',
    notFound: 'Page not found.',
    noAnswer: 'The service does not answer. Check the network, then try again.',
    failed: (status: number) => `The service answered with status ${status} and gave no reason.`,
} as const;
