export const plots = {} as const;
