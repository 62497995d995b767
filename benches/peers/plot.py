"""Cost against the number of joints, as an SVG drawing. Needs nothing but Python."""
import math
from html import escape

WIDTH, HEIGHT = 720, 460
LEFT, RIGHT, TOP, BOTTOM = 80, 24, 48, 64
COLORS = ["#1f5fa8", "#c8501e", "#2e8b57", "#7a4fa3"]
FONT = "font-family='Helvetica, Arial, sans-serif'"


def line_fit(points):
    """Least-squares line y = a + b x through the points: a, b and R^2."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    sxx = sum((x - mean_x) ** 2 for x, _ in points)
    sxy = sum((x - mean_x) * (y - mean_y) for x, y in points)
    syy = sum((y - mean_y) ** 2 for _, y in points)
    slope = sxy / sxx
    intercept = mean_y - slope * mean_x
    residual = sum((y - intercept - slope * x) ** 2 for x, y in points)
    return intercept, slope, 1.0 - residual / syy if syy > 0 else 1.0


def ticks(upper):
    """Round values from 0 to at least `upper`, 5 to 10 of them."""
    rough = upper / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    return [i * step for i in range(math.ceil(upper / step - 1e-9) + 1)]


def number(value):
    return f"{value:.10g}"


def draw(title, series):
    """The drawing of `series`, a list of (name, points), points being (joints, ns)."""
    series = [(name, [(x, y / 1000) for x, y in points]) for name, points in series]
    x_ticks = ticks(max(x for _, points in series for x, _ in points))
    y_ticks = ticks(max(y for _, points in series for _, y in points))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at_x(x):
        return LEFT + (right - LEFT) * x / x_ticks[-1]

    def at_y(y):
        return bottom - (bottom - TOP) * y / y_ticks[-1]

    svg = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
           f"viewBox='0 0 {WIDTH} {HEIGHT}' {FONT} font-size='13' fill='#222'>",
           f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
           text((LEFT + right) / 2, 26, title, "middle", " font-size='15'")]
    for x in x_ticks:
        svg.append(line(at_x(x), bottom, at_x(x), bottom + 5, "#222"))
        svg.append(text(at_x(x), bottom + 20, number(x), "middle"))
    for y in y_ticks:
        if y > 0:
            svg.append(line(LEFT, at_y(y), right, at_y(y), "#e4e4e4"))
        svg.append(line(LEFT - 5, at_y(y), LEFT, at_y(y), "#222"))
        svg.append(text(LEFT - 9, at_y(y) + 4.5, number(y), "end"))
    svg.append(line(LEFT, bottom, right, bottom, "#222"))
    svg.append(line(LEFT, TOP, LEFT, bottom, "#222"))
    svg.append(text((LEFT + right) / 2, HEIGHT - 18, "joints of the chain", "middle"))
    middle = (TOP + bottom) / 2
    svg.append(text(24, middle, "time per call [µs]", "middle", f" transform='rotate(-90 24 {middle})'"))

    for i, (name, points) in enumerate(series):
        color = COLORS[i % len(COLORS)]
        intercept, slope, r_squared = line_fit(points)
        start, end = points[0][0], points[-1][0]
        svg.append(line(at_x(start), at_y(intercept + slope * start),
                        at_x(end), at_y(intercept + slope * end), color, 1.5))
        svg += [f"<circle cx='{at_x(x):.1f}' cy='{at_y(y):.1f}' r='3.5' fill='{color}'/>"
                for x, y in points]
        label = f"{name}: {1000 * slope:.1f} ns per joint, R² = {r_squared:.5f}"
        height = TOP + 16 + 20 * i
        svg.append(line(LEFT + 14, height, LEFT + 38, height, color, 1.5))
        svg.append(f"<circle cx='{LEFT + 26}' cy='{height}' r='3.5' fill='{color}'/>")
        svg.append(text(LEFT + 46, height + 4.5, label, "start"))
    svg.append("</svg>")
    return "\n".join(svg) + "\n"


def line(x1, y1, x2, y2, color, width=1.0):
    return (f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
            f"stroke='{color}' stroke-width='{width}'/>")


def text(x, y, content, anchor, more=""):
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'{more}>{escape(content)}</text>"
