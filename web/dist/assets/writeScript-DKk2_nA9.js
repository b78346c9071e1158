import{t as e}from"./plotTexts-C2WOv2jY.js";var t=`# Draws a plot of the Skyhouse portal with matplotlib, from the rows of its query.

import json
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from astropy.coordinates import SkyCoord
from astropy.time import Time
from matplotlib.colors import LinearSegmentedColormap, LogNorm

Settings = dict[str, Any]


def show_plot(rows: Any, written: str) -> None:
    """Draw the plot of \`\`rows\`\` with the settings in JSON, save it as PDF, and show it."""
    settings = json.loads(written)
    draw = {"sky": draw_sky, "corner": draw_corner, "space": draw_space}.get(settings["kind"], draw_plane)
    drawn = draw(rows, settings)
    print(f"{drawn} of {len(rows)} rows drawn")
    plt.savefig(f"skyhouse-{settings['name']}.pdf")
    plt.show()


# Columns


def find_name(rows: Any, column: Settings) -> str:
    """Return the name of a column, which has an index where several have its name."""
    return str(rows.colnames[column["index"]] if "index" in column else column["name"])


def read_texts(rows: Any, column: Settings) -> Any:
    """Return a column as texts, empty without a value."""
    values = rows[find_name(rows, column)]
    return np.array(["" if value is np.ma.masked else str(value) for value in values], dtype=str)


def read_numbers(rows: Any, column: Settings) -> Any:
    """Return a column as floats: NaN without a value, instants as MJD."""
    if column["kind"] != "time":
        values = np.ma.asarray(rows[find_name(rows, column)]).astype(float)
        return np.array(np.ma.filled(values, np.nan))
    written = np.char.rstrip(read_texts(rows, column), "Z")
    days = np.full(len(written), np.nan)
    known = written != ""
    if known.any():
        days[known] = Time(written[known]).mjd
    return days


def read_quantity(rows: Any, quantity: Settings) -> Any:
    """Return a column, or the difference of two; values without a logarithm are NaN on a log axis."""
    values = read_numbers(rows, quantity["column"])
    if quantity["minus"]:
        values = values - read_numbers(rows, quantity["minus"])
    if quantity["log"]:
        values[~(values > 0)] = np.nan
    return values


def select_rows(rows: Any, filters: list[Settings]) -> Any:
    """Return a mask of the rows that pass the filters of the table."""
    shown = np.ones(len(rows), dtype=bool)
    for entry in filters:
        column = entry["column"]
        if "contains" in entry:
            shown &= np.char.find(np.char.lower(read_texts(rows, column)), entry["contains"]) >= 0
        elif "values" in entry:
            shown &= is_member(rows, column, entry) != entry["excluded"]
        else:
            values = read_numbers(rows, column)
            if entry["min"] is not None:
                shown &= values >= entry["min"]
            if entry["max"] is not None:
                shown &= values <= entry["max"]
    return shown


def is_member(rows: Any, column: Settings, entry: Settings) -> Any:
    """Return a mask of the rows whose value is one of a list; \`\`missing\`\`: or no value."""
    if column["kind"] == "text":
        return np.isin(read_texts(rows, column), entry["values"] + ([""] if entry["missing"] else []))
    numbers = read_numbers(rows, column)
    members = np.isin(numbers, np.array(entry["values"], dtype=float))
    return members | np.isnan(numbers) if entry["missing"] else members


# Points in one colour, by a ramp, or by kinds


def make_ramp(settings: Settings) -> Any:
    return LinearSegmentedColormap.from_list("skyhouse", settings["ramp"])


def has_colour(rows: Any, settings: Settings) -> Any:
    """Return a mask of the rows that have a value to be coloured by."""
    colour = settings["colour"]
    if colour is None or colour["type"] != "values":
        return np.ones(len(rows), dtype=bool)
    return np.isfinite(read_numbers(rows, colour["column"]))


def draw_points(rows: Any, settings: Settings, good: Any, scatter: Callable[..., Any], shrink: float = 1.0) -> None:
    """Draw the points of a mask. \`\`scatter(mask, options)\`\` draws the points of any mask."""
    colour = settings["colour"]
    if colour is None:
        scatter(good, color=settings["accent"])
    elif colour["type"] == "values":
        values = read_numbers(rows, colour["column"])
        low, high = colour["range"]
        points = scatter(good, c=values[good], cmap=make_ramp(settings), vmin=low, vmax=high)
        plt.gcf().colorbar(points, ax=plt.gca(), label=colour["label"], shrink=shrink)
    else:
        draw_kinds(rows, colour, good, scatter)


def draw_kinds(rows: Any, colour: Settings, good: Any, scatter: Callable[..., Any]) -> None:
    """Draw the points of each kind in its colour, and all other points in the last colour."""
    rest = good.copy()
    for kind in colour["kinds"]:
        members = is_member(rows, colour["column"], kind)
        scatter(good & members, color=kind["colour"], label=kind["label"])
        rest &= ~members
    if colour["others"]:
        scatter(rest, color=colour["others"], label="others")
    plt.gca().legend()


# Plots of two axes


def draw_plane(rows: Any, settings: Settings) -> int:
    """Draw a scatter plot, a density, a histogram or a light curve. Return the number of rows drawn."""
    _, ax = plt.subplots(figsize=settings["figure"], layout="constrained")
    plt.sca(ax)
    shown = select_rows(rows, settings["filters"])
    fold = settings["fold"]
    axes = [read_quantity(rows, axis) for axis in settings["axes"]]
    if fold:
        # two periods: each row twice
        axes[0] = (axes[0] - fold["zero"]) / fold["period"] % 1
        axes = [np.concatenate([axes[0], axes[0] + 1]), np.tile(axes[1], 2)]
        index = np.tile(np.arange(len(rows)), 2)
        rows, shown = rows[index], shown[index]
    good = shown & np.all(np.isfinite(axes), axis=0) & has_colour(rows, settings)
    if settings["kind"] == "histogram":
        draw_histogram(ax, axes[0][good], settings)
    elif settings["kind"] == "density":
        draw_density(ax, axes[0][good], axes[1][good], settings)
    else:
        x, y = axes

        def scatter(mask: Any, **options: Any) -> Any:
            return ax.scatter(x[mask], y[mask], **options, **settings["marks"])

        draw_errors(ax, x, y, good, rows, settings)
        draw_points(rows, settings, good, scatter)
    draw_layers(ax, axes, good, rows, settings)
    frame_plane(ax, settings)
    return int(good.sum()) // (2 if fold else 1)


def frame_plane(ax: Any, settings: Settings) -> None:
    """Set scales, ranges and labels."""
    for name, scale in zip("xy", settings["scales"], strict=True):
        if scale["log"]:
            getattr(ax, f"set_{name}scale")("log")
        getattr(ax, f"set_{name}lim")(*scale["limits"])
        getattr(ax, f"set_{name}label")(scale["label"])


def draw_histogram(ax: Any, values: Any, settings: Settings) -> None:
    """Draw the bins of the portal; the bins of a log axis are even in the logarithm."""
    bins = settings["bins"]
    edges = bins["start"] + bins["width"] * np.arange(bins["count"] + 1)
    scaled = np.log10(values) if settings["axes"][0]["log"] else values
    # values on an edge but for their rounding belong to the bin above, as in the portal
    ax.hist(scaled + bins["width"] * 1e-6, bins=edges, color=settings["accent"], rwidth=0.95)


def draw_density(ax: Any, x: Any, y: Any, settings: Settings) -> None:
    """Count rows in the cells of the picture; the cells of log axes are even in the logarithm."""
    edges = []
    for axis, cells in zip(settings["axes"], settings["cells"], strict=True):
        even = cells["start"] + cells["width"] * np.arange(cells["count"] + 1)
        edges.append(10**even if axis["log"] else even)
    cmap = make_ramp(settings)
    *_, image = ax.hist2d(x, y, bins=edges, cmap=cmap, norm=LogNorm(vmin=1), cmin=1)
    plt.gcf().colorbar(image, ax=ax, label="rows per bin")


# Layers of plots of two axes


def read_errors(rows: Any, settings: Settings) -> dict[str, tuple[Any, Any]]:
    """Return the lower and upper half errors of each axis with errors; errors of a difference add in quadrature."""
    found = {}
    for entry in settings["layers"].get("errors", []):
        columns = [read_numbers(rows, column) for column in entry["columns"]]
        low = np.hypot(*columns) if len(columns) == 2 else np.abs(columns[0])
        high = np.abs(read_numbers(rows, entry["upper"])) if entry["upper"] else low
        found[entry["axis"]] = (low, high)
    return found


def draw_errors(ax: Any, x: Any, y: Any, good: Any, rows: Any, settings: Settings) -> None:
    for axis, (low, high) in read_errors(rows, settings).items():
        bars = good & (low + high > 0)
        lengths: dict[str, Any] = {f"{axis}err": [low[bars], high[bars]]}
        ax.errorbar(x[bars], y[bars], **lengths, fmt="none", ecolor="0.6", elinewidth=0.6, zorder=0)


def draw_layers(ax: Any, axes: list[Any], good: Any, rows: Any, settings: Settings) -> None:
    """Draw the line and the bins of the rows in view, in the scales of the axes."""
    layers = settings["layers"]
    if "fit" not in layers and "bins" not in layers:
        return
    logs = [axis["log"] for axis in settings["axes"]]
    u, v = (np.log10(values) if log else values for values, log in zip((a[good] for a in axes), logs, strict=True))
    (u0, u1), (v0, v1) = (sorted(ends) for ends in settings["view"])
    inside = (u >= u0) & (u <= u1) & (v >= v0) & (v <= v1)
    u, v = u[inside], v[inside]
    if "fit" in layers:
        sigma = None
        if layers["fit"]["weighted"]:
            low, high = read_errors(rows, settings)["y"]
            sigma = (low + high)[good][inside] / 2
            if logs[1]:
                sigma = sigma / (10**v * np.log(10))
        draw_line(ax, u, v, sigma, settings)
    if "bins" in layers:
        draw_bins(ax, u, v, settings)


def unscale(values: Any, settings: Settings, axis: int) -> Any:
    """Return values of an axis from their logarithms on a log axis."""
    return 10**values if settings["axes"][axis]["log"] else values


def draw_line(ax: Any, u: Any, v: Any, sigma: Any, settings: Settings) -> None:
    """Draw a straight line by least squares with its standard error; rows without an error are left out."""
    # dates are far from 0, where the fit would lose digits
    middle = u.mean()
    if sigma is None:
        (slope, start), covariance = np.polyfit(u - middle, v, 1, cov=True)
    else:
        fitted = np.isfinite(sigma) & (sigma > 0)
        weights = 1 / sigma[fitted]
        (slope, start), covariance = np.polyfit(u[fitted] - middle, v[fitted], 1, w=weights, cov="unscaled")
    across = np.linspace(settings["view"][0][0], settings["view"][0][1], 65)
    away = across - middle
    line = start + slope * away
    error = np.sqrt(covariance[0, 0] * away**2 + 2 * covariance[0, 1] * away + covariance[1, 1])
    x = unscale(across, settings, 0)
    colour = settings["lineColour"]
    ax.plot(x, unscale(line, settings, 1), color=colour, zorder=3)
    low, high = unscale(line - error, settings, 1), unscale(line + error, settings, 1)
    ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, zorder=3)


def draw_bins(ax: Any, u: Any, v: Any, settings: Settings) -> None:
    """Draw the mean and standard deviation, or the median and 16 to 84 %, in each bin of the horizontal axis."""
    given = settings["layers"]["bins"]
    start, width = given["start"], given["width"]
    number = np.floor((u - start) / width).astype(int)
    found = []
    for bin_ in np.unique(number):
        own = v[number == bin_]
        if given["statistic"] == "mean":
            deviation = own.std(ddof=1) if len(own) > 1 else np.nan
            middle, low, high = own.mean(), own.mean() - deviation, own.mean() + deviation
        else:
            middle, low, high = np.percentile(own, [50, 15.8655253931457, 84.1344746068543])
            if len(own) == 1:
                low = high = np.nan
        found.append([start + bin_ * width, middle, low, high])
    left, middles, lows, highs = np.array(found).T
    centres = unscale(left + width / 2, settings, 0)
    middles, lows, highs = (unscale(values, settings, 1) for values in (middles, lows, highs))
    style = {"color": "0.1", "zorder": 4}
    ax.hlines(middles, unscale(left, settings, 0), unscale(left + width, settings, 0), **style)
    ax.vlines(centres, lows, highs, **style)
    ax.plot(centres, middles, "s", markersize=4, **style)


# Maps of the sky

_ANGLES = {"icrs": ("ra", "dec"), "galactic": ("l", "b")}


def turn_frame(longitude: Any, latitude: Any, start: str, end: str) -> tuple[Any, Any]:
    """Convert directions in degrees between two frames; without a direction they stay NaN."""
    if start == end:
        return longitude, latitude
    known = np.isfinite(longitude) & (np.abs(latitude) <= 90)
    turned = getattr(SkyCoord(longitude[known], latitude[known], unit="deg", frame=start), end)
    longitude, latitude = longitude.copy(), latitude.copy()
    longitude[known], latitude[known] = (getattr(turned, name).deg for name in _ANGLES[end])
    return longitude, latitude


def read_directions(rows: Any, settings: Settings) -> tuple[Any, Any]:
    """Return longitudes and latitudes in degrees, in the frame of the columns."""
    longitude, latitude = (read_numbers(rows, axis["column"]) * axis["degrees"] for axis in settings["directions"])
    return longitude, latitude


def draw_sky(rows: Any, settings: Settings) -> int:
    """Draw the whole sky in the Hammer projection, or a region of it. Return the number of rows drawn."""
    sky = settings["sky"]
    fig = plt.figure(figsize=settings["figure"], layout="constrained")
    region = sky["region"]
    ax = fig.add_subplot(projection=None if region else "hammer")
    plt.sca(ax)
    frame_sky(ax, settings)
    longitude, latitude = read_directions(rows, settings)
    good = select_rows(rows, settings["filters"]) & np.isfinite(longitude) & (np.abs(latitude) <= 90)
    good &= has_colour(rows, settings)
    if sky["order"] is not None:
        draw_cells(ax, longitude[good], latitude[good], settings)
        return int(good.sum())
    longitude, latitude = turn_frame(longitude, latitude, sky["columnFrame"], sky["frame"])
    away = (longitude - sky["centre"] + 180) % 360 - 180

    def scatter(mask: Any, **options: Any) -> Any:
        x, y = (away, latitude) if region else (-np.radians(away), np.radians(latitude))
        return ax.scatter(x[mask], y[mask], **options, **settings["marks"])

    draw_points(rows, settings, good, scatter, shrink=0.8)
    return int(good.sum())


def frame_sky(ax: Any, settings: Settings) -> None:
    """Set ranges and labels: longitude grows to the left, \`\`centre\`\` is in the middle."""
    sky = settings["sky"]
    centre, region = sky["centre"], sky["region"]
    if region:
        ax.set_xlim(region["east"], region["west"])
        ax.set_ylim(region["south"], region["north"])
        middle = np.cos(np.radians((region["south"] + region["north"]) / 2))
        ax.set_aspect(1 / max(0.02, middle))
        ax.xaxis.set_major_formatter(lambda away, _: f"{(centre + away) % 360:g}°")
        ax.set_xlabel(sky["names"][0])
        ax.set_ylabel(f"{sky['names'][1]} [deg]")
    else:
        ax.set_xticks(np.radians(np.arange(-150, 180, 30)))
        ax.set_xticklabels([f"{(centre - away) % 360:.0f}°" for away in range(-150, 180, 30)])
    ax.grid(linewidth=0.5)
    # lines above the map
    ax.set_axisbelow(False)


def draw_cells(ax: Any, longitude: Any, latitude: Any, settings: Settings) -> None:
    """Colour every pixel of the map by the number of rows in its HEALPix cell."""
    sky = settings["sky"]
    order = sky["order"]
    counts = np.bincount(
        find_cells(order, *turn_frame(longitude, latitude, sky["columnFrame"], "icrs")), minlength=12 * 4**order
    )
    region = sky["region"] or {"west": -180, "east": 180, "south": -90, "north": 90}
    across, up = np.meshgrid(
        np.linspace(region["west"], region["east"], 1001), np.linspace(region["south"], region["north"], 501)
    )
    middles = [(edges[1:, 1:] + edges[:-1, :-1]) / 2 for edges in (across, up)]
    cells = find_cells(order, *turn_frame((middles[0] + sky["centre"]) % 360, middles[1], sky["frame"], "icrs"))
    square_degrees = 129600 / np.pi / counts.size
    density = np.ma.masked_equal(counts[cells], 0) / square_degrees
    x, y = (across, up) if sky["region"] else (-np.radians(across), np.radians(up))
    image = ax.pcolormesh(x, y, density, cmap=make_ramp(settings), norm=LogNorm(), rasterized=True)
    plt.gcf().colorbar(image, ax=ax, label="rows / deg²", shrink=0.8)


def find_cells(order: int, longitude: Any, latitude: Any) -> Any:
    """Return the HEALPix cell of each direction in degrees.

    Cells are numbered by their face and their row and column in it, which is enough to count them.

    References
    ----------
    Gorski et al. 2005, ApJ 622, 759.
    """
    nside = 2**order
    z = np.sin(np.radians(latitude))
    turn = longitude / 90 % 4
    rising = np.floor(nside * (0.5 + turn - 0.75 * z)).astype(int)
    falling = np.floor(nside * (0.5 + turn + 0.75 * z)).astype(int)
    up, down = rising // nside, falling // nside
    face = np.where(up == down, up % 4 + 4, np.where(up < down, up % 4, down % 4 + 8))
    x, y = falling % nside, nside - rising % nside - 1
    quarter = np.minimum(turn.astype(int), 3)
    across = nside * np.sqrt(3 * (1 - np.abs(z)))
    east = np.minimum((turn - quarter) * across, nside - 1).astype(int)
    west = np.minimum((1 - turn + quarter) * across, nside - 1).astype(int)
    polar, north = np.abs(z) > 2 / 3, z > 0
    face = np.where(polar, np.where(north, quarter, quarter + 8), face)
    x = np.where(polar, np.where(north, nside - west - 1, east), x)
    y = np.where(polar, np.where(north, nside - east - 1, west), y)
    return (face * nside + y) * nside + x


# Corner plots and plots in space


def read_values(rows: Any, settings: Settings) -> tuple[list[Any], Any]:
    """Return the quantities in the scales of their axes, and a mask of the rows within all ranges."""
    values = []
    for quantity in settings["quantities"]:
        own = read_quantity(rows, quantity)
        values.append(np.log10(own) if quantity["log"] else own)
    return values, within_ranges(rows, values, settings)


def within_ranges(rows: Any, values: list[Any], settings: Settings) -> Any:
    good = select_rows(rows, settings["filters"])
    for own, ends in zip(values, settings["ranges"], strict=True):
        good &= (own >= min(ends)) & (own <= max(ends))
    return good


def draw_corner(rows: Any, settings: Settings) -> int:
    """Draw the histogram of each quantity and each pair of them. Return the number of rows drawn."""
    values, good = read_values(rows, settings)
    count = len(values)
    labels, ranges = settings["labels"], settings["ranges"]
    _, panels = plt.subplots(count, count, figsize=(2 * count, 2 * count), layout="constrained")
    for row in range(count):
        for column in range(count):
            ax = panels[row, column]
            if column > row:
                ax.axis("off")
                continue
            draw_panel(ax, [values[column][good], values[row][good]], [ranges[column], ranges[row]], settings)
            if column == row:
                ax.set_yticks([])
            ax.tick_params(labelbottom=row == count - 1, labelleft=column == 0 and row > 0)
            if row == count - 1:
                ax.set_xlabel(labels[column])
            if column == 0 and row > 0:
                ax.set_ylabel(labels[row])
    return int(good.sum())


def draw_panel(ax: Any, values: list[Any], ranges: list[Any], settings: Settings) -> None:
    """Draw a histogram if both quantities are one, else few rows as points and many as a density."""
    (x, y), bounds = values, [sorted(ends) for ends in ranges]
    ax.set_xlim(*ranges[0])
    if np.array_equal(x, y) and ranges[0] == ranges[1]:
        ax.hist(x, bins=40, range=bounds[0], color=settings["accent"])
        return
    if len(x) <= 3000:
        ax.scatter(x, y, s=3, color=settings["accent"], linewidths=0)
    else:
        ax.hist2d(x, y, bins=60, range=bounds, cmap=make_ramp(settings), norm=LogNorm(vmin=1), cmin=1)
    ax.set_ylim(*ranges[1])


def place_positions(rows: Any, settings: Settings) -> list[Any]:
    """Return positions as x, y and z: at their distances, or on the unit sphere."""
    space = settings["space"]
    longitude, latitude = read_directions(rows, settings)
    latitude[np.abs(latitude) > 90 + 1e-7] = np.nan
    longitude, latitude = turn_frame(longitude, latitude, space["columnFrame"], space["frame"])
    distance = np.ones(len(rows))
    if space["distance"]:
        distance = read_numbers(rows, space["distance"])
        distance[~(distance > 0)] = np.nan
        if space["parsec"]:
            # parallaxes
            distance = space["parsec"] / distance
    longitude, latitude = np.radians(longitude), np.radians(latitude)
    across = distance * np.cos(latitude)
    return [across * np.cos(longitude), across * np.sin(longitude), distance * np.sin(latitude)]


def draw_space(rows: Any, settings: Settings) -> int:
    """Draw points in three dimensions. Return the number of rows drawn."""
    space = settings["space"]
    if settings["directions"]:
        values = place_positions(rows, settings)
        good = within_ranges(rows, values, settings)
    else:
        values, good = read_values(rows, settings)
    good &= has_colour(rows, settings)
    fig = plt.figure(figsize=(8, 7), layout="constrained")
    ax = fig.add_subplot(projection="3d")
    plt.sca(ax)
    sizes = np.full(len(rows), 4.0)
    if space["sizes"]:
        least, most = space["sizes"]["range"]
        part = (read_numbers(rows, space["sizes"]["column"]) - least) / (most - least)
        sizes = (1.5 + 6 * np.nan_to_num(np.clip(part, 0, 1))) ** 2

    def scatter(mask: Any, **options: Any) -> Any:
        x, y, z = (own[mask] for own in values)
        return ax.scatter(x, y, z, **options, s=sizes[mask], linewidths=0, depthshade=False)

    draw_points(rows, settings, good, scatter, shrink=0.7)
    for name, ends, label in zip("xyz", settings["ranges"], settings["labels"], strict=True):
        ax.set(**{f"{name}lim": ends, f"{name}label": label})
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(elev=space["latitude"], azim=space["longitude"])
    return int(good.sum())
`;function n(n,{leftOut:r=[],ofChosen:i=!1}={}){let a=[...r.length?[e.layers.notInScript(r.join(`, `).toLowerCase())]:[],...i?[e.layers.ofChosen]:[]],o=`show_plot(rows, r"""${JSON.stringify(n,null,2)}""")`;return[t.trim(),[...a.map(e=>`# ${e}`),o].join(`
`)].join(`


`)}export{n as t};