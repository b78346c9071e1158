export const home = {
    what: 'Astronomical tables, to look at, to query in ADQL, and to match with yours.',
    continue: 'Continue with',
    goTo: 'Go to an object or a position',
    tool: 'Drag tool',
    tools: { move: 'Move', circle: 'Circle', box: 'Box', polygon: 'Polygon' },
    toolHints: {
        move: 'Drag to turn the sky; wheel or pinch to zoom; click for what is there',
        circle: 'Drag from the middle of a circle outwards to count the rows in it',
        box: 'Drag a box to count the rows in it',
        polygon: 'Draw around a region to count the rows in it',
    },
    wholeSky: 'Whole sky',
    map: {
        label: 'Map of the sky. Arrow keys turn it, + and − zoom, 0 shows the whole sky.',
        under: (ra: number, dec: number) => `RA ${ra.toFixed(4)}° Dec ${dec < 0 ? '' : '+'}${dec.toFixed(4)}°`,
    },
    layers: {
        title: 'Tables on the sky',
        rows: (written: string, rows: number) => `${written} ${rows === 1 ? 'row' : 'rows'}`,
        explore: 'Explore',
        coverage: (part: number) =>
            part < 0.01 ? 'less than 1 % of the sky' : `about ${Math.round(part * 100)} % of the sky`,
        opacity: (table: string) => `Opacity of ${table}`,
        none: 'No table of this service has positions.',
    },
    region: {
        title: 'In this region',
        clear: 'Clear',
        counting: 'counting …',
        rows: (written: string, rows: number) => `${written} ${rows === 1 ? 'row' : 'rows'}`,
        table: 'Rows',
        plot: 'Plot',
    },
    ways: {
        title: 'Three ways to begin',
        query: 'Write a query',
        queryWhat: 'in ADQL, with completion, errors where they are, and an estimate.',
        orBuild: 'Without ADQL:',
        examples: 'Run an example',
        examplesWhat: 'cones, colour-magnitude diagrams, cross-matches: each runs as it is.',
        upload: 'Bring your own list',
        uploadWhat: 'and match it with these tables by position.',
    },
    moc: {
        title: 'Paste a region as a MOC',
        what: 'ASCII (6/1-3 7/20) or JSON ({"6": [1, 2, 3]}), orders up to 12',
        take: 'Count its rows',
        empty: 'The MOC has no cells.',
        unreadable: (word: string) =>
            `“${word}” is not part of a MOC: write an order and its cells, such as 6/1-3 7/20.`,
        order: (order: number, most: number) =>
            `The MOC has cells of order ${order}: the map takes orders up to ${most}.`,
        cell: (order: number, cell: number) => `There is no cell ${cell} of order ${order}.`,
        many: (most: number) => `The MOC has more than ${most} cells of one order.`,
    },
} as const;
