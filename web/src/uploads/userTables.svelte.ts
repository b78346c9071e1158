/** The user tables at the service: docs/user-tables.md. */

import { askService, TapError } from '../tap/tapRequest';
import { catalogue } from '../tap/tableCatalogue.svelte';
import { credentials } from '../tap/credentials.svelte';
import { sendRequest, type UploadRequest } from './uploadRequest';

export interface UserTable {
    /** `mydb.name` */
    readonly name: string;
    readonly description: string;
    readonly rows: number;
    readonly bytes: number;
    /** ISO 8601 */
    readonly created: string;
    readonly changed: string;
    readonly expires: string;
}

interface Amount {
    readonly bytes: number;
    readonly tables: number;
}

export interface UserTableList {
    readonly owner: string;
    readonly used: Amount;
    readonly limits: Amount;
    readonly tables: readonly UserTable[];
}

class UserTables {
    listed = $state.raw<UserTableList | undefined>();
    /** why the list could not be loaded; '' if it could */
    failed = $state('');

    /** Load the list; anonymous users have none. Never raises. */
    async loadList(): Promise<void> {
        const asker = credentials.header;
        if (!asker) {
            [this.listed, this.failed] = [undefined, ''];
            return;
        }
        try {
            const listed = (await (await askService('mydb')).json()) as UserTableList;
            if (asker === credentials.header) [this.listed, this.failed] = [listed, ''];
        } catch (error) {
            if (asker === credentials.header) [this.listed, this.failed] = [undefined, (error as Error).message];
        }
    }

    /** Save a file as a user table. Raises TapError, with status 409 if the table exists and `replace` is false. */
    async saveTable(
        name: string,
        file: Blob,
        replace: boolean,
        watch: Pick<UploadRequest, 'onProgress' | 'signal'>,
    ): Promise<void> {
        const path = `tables/mydb.${name}${replace ? '?replace=true' : ''}`;
        await sendRequest(path, { method: 'PUT', body: file, contentType: file.type, ...watch });
        await this.#reloadAll();
    }

    /** Drop `mydb.name`; a missing table is not an error. Raises TapError. */
    async dropTable(name: string): Promise<void> {
        try {
            await askService(`tables/${encodeURIComponent(name)}`, { method: 'DELETE' });
        } catch (error) {
            if (!(error instanceof TapError && error.status === 404)) throw error;
        }
        await this.#reloadAll();
    }

    async #reloadAll(): Promise<void> {
        await Promise.all([this.loadList(), catalogue.reloadTables()]);
    }
}

export const userTables = new UserTables();
