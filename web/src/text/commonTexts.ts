export const common = {
    product: 'Skyhouse',
    close: 'Close',
    cancel: 'Cancel',
    loading: 'Loading …',
    skip: 'Skip to the page',
    navigation: 'Pages',
    pages: { query: 'Query', tables: 'Tables', examples: 'Examples', jobs: 'Jobs', uploads: 'Upload' },
    theme: { label: 'Colours', auto: 'As the system', light: 'Light', dark: 'Dark' },
    news: 'News',
    notFound: 'There is no such page.',
    noAnswer: 'The service does not answer. Check the network, then try again.',
    failed: (status: number) => `The service answered with status ${status} and gave no reason.`,
} as const;
