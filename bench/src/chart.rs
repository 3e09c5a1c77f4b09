//! Charts as SVG: bars for costs, lines for growth.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const OURS: RGBColor = RGBColor(0, 121, 107);
const THEIRS: RGBColor = RGBColor(158, 158, 158);
const LINES: [RGBColor; 9] = [
    RGBColor(0, 121, 107),
    RGBColor(25, 118, 210),
    RGBColor(245, 124, 0),
    RGBColor(123, 31, 162),
    RGBColor(211, 47, 47),
    RGBColor(97, 97, 97),
    RGBColor(85, 139, 47),
    RGBColor(0, 0, 0),
    RGBColor(0, 172, 193),
];

/// One line of a chart.
pub struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Line {
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            points,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value of a point.
    pub fn value(&self, place: usize) -> f64 {
        self.points[place].1
    }
}

/// One bar of a chart.
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// The text beside the bar.
    pub label: String,
    /// True if pg_mint has it.
    pub ours: bool,
}

/// Scale of the axis, and its label.
pub enum Axis<'a> {
    Linear(&'a str),
    Log(&'a str),
}

/// Sizes of a chart of bars, in pixels.
struct Look {
    width: u32,
    bar: u32,
    names: u32,
    font: u32,
}

const PAGE: Look = Look {
    width: 860,
    bar: 26,
    names: 230,
    font: 14,
};
/// Letters that can be read on a phone, which shows the whole width.
const PHONE: Look = Look {
    width: 480,
    bar: 40,
    names: 186,
    font: 19,
};

/// Draws horizontal bars, the smallest on top.
pub fn bars(place: &Path, title: &str, axis: Axis<'_>, bars: &[Bar]) {
    let values = || bars.iter().map(|bar| bar.value);
    let largest = values().fold(1.0, f64::max);
    match axis {
        Axis::Linear(name) => {
            draw_bars(place, title, &PAGE, (name, 0.0, 0.0..largest * 1.15), bars)
        }
        Axis::Log(name) => {
            let low = values().fold(largest, f64::min) / 2.0;
            let range = (low..largest * 3.0).log_scale();
            draw_bars(place, title, &PAGE, (name, low, range), bars)
        }
    }
    .expect("a chart can be drawn");
}

/// Draws a few bars whose lengths are their values, for a page that is read on a phone.
pub fn few_bars(place: &Path, title: &str, bars: &[Bar]) {
    let largest = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    // The text beside the longest bar needs room.
    let range = 0.0..largest * 1.9;
    draw_bars(place, title, &PHONE, ("", 0.0, range), bars).expect("a chart can be drawn");
}

/// Draws lines over a logarithmic axis of counts.
pub fn lines(place: &Path, title: &str, axes: (&str, &str), lines: &[Line]) {
    if lines.iter().all(|line| line.points.is_empty()) {
        return;
    }
    let range = 0.0..highest(lines) * 1.1;
    draw_lines(place, title, axes, range, lines).expect("a chart can be drawn");
}

/// Draws lines over logarithmic axes.
pub fn lines_by_powers(place: &Path, title: &str, axes: (&str, &str), lines: &[Line]) {
    let values = lines.iter().flat_map(|line| &line.points);
    let low = values.map(|point| point.1).fold(f64::INFINITY, f64::min);
    let range = (low / 2.0..highest(lines) * 2.0).log_scale();
    draw_lines(place, title, axes, range, lines).expect("a chart can be drawn");
}

fn highest(lines: &[Line]) -> f64 {
    let points = lines.iter().flat_map(|line| &line.points);
    points.map(|point| point.1).fold(0.0, f64::max)
}

/// Colors of a chart, and those on a dark page, which a browser chooses.
const DARK: [(&str, &str); 9] = [
    ("#000000", "#e6edf3"),
    ("#00796B", "#26a69a"),
    ("#1976D2", "#64b5f6"),
    ("#F57C00", "#ffb74d"),
    ("#7B1FA2", "#ce93d8"),
    ("#D32F2F", "#ef9a9a"),
    ("#616161", "#b0b8c0"),
    ("#558B2F", "#aed581"),
    ("#FFFFFF", "#0d1117"),
];

/// Adds the colors of a dark page to a chart, and its title for programs that read a page aloud.
fn adapt(place: &Path, title: &str) -> std::io::Result<()> {
    let text = std::fs::read_to_string(place)?;
    let (head, rest) = text.split_once(">\n").unwrap_or((&text, ""));
    let colors = DARK.map(|(light, dark)| {
        format!(
            "[fill=\"{light}\"] {{ fill: {dark}; }}\n[stroke=\"{light}\"] {{ stroke: {dark}; }}\n"
        )
    });
    let style = format!(
        "<style>@media (prefers-color-scheme: dark) {{\n{}}}</style>\n",
        colors.concat()
    );
    std::fs::write(
        place,
        format!("{head} role=\"img\">\n<title>{title}</title>\n{style}{rest}"),
    )
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw_bars<X>(
    place: &Path,
    title: &str,
    look: &Look,
    (axis, low, range): (&str, f64, X),
    bars: &[Bar],
) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let mut sorted: Vec<&Bar> = bars.iter().collect();
    sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
    let count = sorted.len() as i32;
    let axis_height = if axis.is_empty() { 0 } else { 44 };
    let height = 56 + axis_height + look.bar * count as u32;
    let root = SVGBackend::new(place, (look.width, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .set_label_area_size(LabelAreaPosition::Left, look.names)
        .set_label_area_size(LabelAreaPosition::Bottom, axis_height)
        .build_cartesian_2d(range, (0..count - 1).into_segmented())?;
    let mut mesh = chart.configure_mesh();
    if axis.is_empty() {
        mesh.disable_x_mesh();
    }
    mesh.disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|value| format!("{}", (value * 1e6).round() / 1e6))
        .y_labels(sorted.len())
        .y_label_formatter(&|place| match place {
            SegmentValue::CenterOf(place) => sorted
                .get(usize::try_from(*place).unwrap_or(usize::MAX))
                .map_or_else(String::new, |bar| bar.name.clone()),
            _ => String::new(),
        })
        .x_desc(axis)
        .label_style(("sans-serif", look.font))
        .draw()?;
    chart.draw_series(sorted.iter().zip(0..).map(|(bar, place)| {
        let color = if bar.ours { OURS } else { THEIRS };
        let corners = [
            (low, SegmentValue::Exact(place)),
            (bar.value, SegmentValue::Exact(place + 1)),
        ];
        let mut drawn = Rectangle::new(corners, color.filled());
        drawn.set_margin(3, 3, 0, 0);
        drawn
    }))?;
    let style = ("sans-serif", look.font - 1)
        .into_font()
        .into_text_style(&root)
        .pos(Pos::new(HPos::Left, VPos::Center));
    chart.draw_series(sorted.iter().zip(0..).map(|(bar, place)| {
        let at = (bar.value, SegmentValue::CenterOf(place));
        EmptyElement::at(at) + Text::new(bar.label.clone(), (5, 0), style.clone())
    }))?;
    root.present()?;
    drop((chart, root));
    adapt(place, title)?;
    Ok(())
}

fn draw_lines<Y>(place: &Path, title: &str, (x, y): (&str, &str), range: Y, lines: &[Line]) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let points = lines.iter().flat_map(|line| &line.points);
    let right = points.map(|point| point.0).fold(1.0, f64::max);
    // Sessions double from step to step; lanes, users and ids grow tenfold.
    let base = if right > 200.0 { 10.0 } else { 2.0 };
    let root = SVGBackend::new(place, (860, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    // The legend has its own area, where it covers no line.
    let (plot, legend) = root.split_horizontally(690);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .margin_right(24)
        .set_label_area_size(LabelAreaPosition::Left, 76)
        .set_label_area_size(LabelAreaPosition::Bottom, 44)
        .build_cartesian_2d((1.0..right).log_scale().base(base), range)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_label_formatter(&|value| format!("{}", (value * 1e3).round() / 1e3))
        .label_style(("sans-serif", 14))
        .draw()?;
    let style = ("sans-serif", 14)
        .into_font()
        .into_text_style(&root)
        .pos(Pos::new(HPos::Left, VPos::Center));
    for ((line, color), place) in lines.iter().zip(LINES.iter().cycle()).zip(0..) {
        let stroke = color.stroke_width(2);
        chart.draw_series(LineSeries::new(line.points.iter().copied(), stroke))?;
        chart.draw_series(
            line.points
                .iter()
                .map(|&point| Circle::new(point, 3, color.filled())),
        )?;
        let y = 60 + 24 * place;
        legend.draw(&PathElement::new([(0, y), (18, y)], stroke))?;
        legend.draw(&Text::new(line.name.clone(), (24, y), style.clone()))?;
    }
    root.present()?;
    drop((chart, plot, legend, root));
    adapt(place, title)?;
    Ok(())
}
