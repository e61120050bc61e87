"""Random layouts and blocks for the tests of recordings, and a plain pair of both."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multiarm.trajectory import Channel, Event, Label, Layout
from multiarm.trajectory.layout import DTYPES

PLAIN = Layout(
    (Channel("q", ("coordinate",), ("rad", "m"), "coordinates"), Channel("step", (), "1", "steps", "int64")),
    {"coordinate": ("turn", "slide")},
    (Label("coordinate_part", "coordinate", ("arm", "arm")),),
    {"title": "plain", "seed": 7},
)


def plain_block(start, stop):
    """Samples number `start` to `stop` of a recording in which every value follows from the sample's number."""
    number = np.arange(start, stop)
    return {"time": 0.25 * number, "q": np.stack([np.sin(number), 1.0 * number], axis=1), "step": number}


def assert_plain(block, start, stop):
    for name, expected in plain_block(start, stop).items():
        assert np.array_equal(block[name], expected), name


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ATTRIBUTE = st.one_of(
    st.text(max_size=20),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.lists(st.floats(allow_nan=False), max_size=3),
    st.lists(st.integers(-5, 5), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
EVENTS = st.lists(
    st.builds(
        Event,
        st.floats(-1e6, 1e6),
        st.text(max_size=5),
        st.text(max_size=5),
        st.text(max_size=20),
        st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False) | st.lists(st.integers(), max_size=2)),
    ),
    max_size=4,
)


@st.composite
def layouts(draw):
    """Layouts of up to five channels over up to three dimensions, empty ones among them."""
    sizes = draw(st.lists(st.integers(0, 4), max_size=3))
    coordinates = {
        f"dim{i}": tuple(draw(st.lists(TEXT, min_size=size, max_size=size, unique=True)))
        for i, size in enumerate(sizes)
    }
    channels = []
    for i in range(draw(st.integers(0, 5))):
        dims = tuple(draw(st.permutations(sorted(coordinates)))[: draw(st.integers(0, 3))])
        unit = draw(TEXT)
        if dims and draw(st.booleans()):
            last = len(coordinates[dims[-1]])
            unit = tuple(draw(st.lists(TEXT, min_size=last, max_size=last)))
        channels.append(Channel(f"channel{i}", dims, unit, draw(TEXT), draw(st.sampled_from(DTYPES))))
    labels = [
        Label(f"label{i}", dim, tuple(draw(st.lists(TEXT, min_size=len(names), max_size=len(names)))))
        for i, (dim, names) in enumerate(coordinates.items())
        if draw(st.booleans())
    ]
    attributes = draw(st.dictionaries(st.from_regex("[a-z][a-z0-9_]{0,5}", fullmatch=True), ATTRIBUTE, max_size=3))
    attributes.pop("events", None)
    return Layout(tuple(channels), coordinates, tuple(labels), attributes)


@st.composite
def blocks_for(draw, layout, most=4):
    """Some blocks of a layout, with any bits in them; times increase."""
    lengths = draw(st.lists(st.integers(0, 5), max_size=most))
    times = np.cumsum(draw(hnp.arrays(float, sum(lengths), elements=st.floats(1e-3, 10.0))))
    blocks, start = [], 0
    for length in lengths:
        block = {"time": times[start : start + length]}
        for name, (kind, shape) in layout.fields.items():
            if name != "time":
                native = kind.newbyteorder("=")
                block[name] = draw(hnp.arrays(native, (length, *shape), elements=hnp.from_dtype(native)))
        blocks.append(block)
        start += length
    return blocks


def joined(layout, blocks):
    """All samples of some blocks by channel."""
    return {
        name: np.concatenate([np.empty((0, *shape), kind.newbyteorder("=")), *(block[name] for block in blocks)])
        for name, (kind, shape) in layout.fields.items()
    }


def assert_same(one, other):
    """Two blocks hold the same numbers, NaN equal to NaN."""
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert array.shape == other[name].shape, name
        assert array.dtype == other[name].dtype, name
        assert np.array_equal(array, other[name], equal_nan=array.dtype.kind == "f"), name
