/** The user tables at the service: docs/user-tables.md. */

import { askService, formValues, TapError } from '../tap/tapRequest';
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
    /** who else may read it */
    readonly users: readonly string[];
    readonly groups: readonly string[];
}

/** A table of another user that this user may read. */
export interface SharedTable extends Pick<UserTable, 'description' | 'rows' | 'bytes' | 'changed'> {
    /** as ADQL writes it */
    readonly name: string;
    readonly owner: string;
}

/** Who may read a table. */
export interface Reader {
    readonly kind: 'user' | 'group';
    readonly name: string;
}

interface Amount {
    readonly bytes: number;
    readonly tables: number;
}

export interface UserTableList {
    readonly owner: string;
    /** groups of the user */
    readonly groups: readonly string[];
    readonly used: Amount;
    readonly limits: Amount;
    readonly tables: readonly UserTable[];
    readonly shared: readonly SharedTable[];
}

const grantsPath = (name: string): string => `mydb/${encodeURIComponent(name)}/grants`;

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

    /** Let a user or the members of a group read `mydb.name`. Raises TapError. */
    async shareTable(name: string, { kind, name: reader }: Reader): Promise<void> {
        const body = JSON.stringify({ [kind]: reader });
        await askService(grantsPath(name), { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
        await this.loadList();
    }

    /** Take a reader's right. Raises TapError. */
    async revokeReader(name: string, { kind, name: reader }: Reader): Promise<void> {
        await askService(`${grantsPath(name)}?${formValues({ [kind]: reader })}`, { method: 'DELETE' });
        await this.loadList();
    }

    async #reloadAll(): Promise<void> {
        await Promise.all([this.loadList(), catalogue.reloadTables()]);
    }
}

export const userTables = new UserTables();
