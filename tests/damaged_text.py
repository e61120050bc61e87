"""Small damage to text, as people and disks do it."""

from hypothesis import strategies as st

__all__ = ["mutate"]

PIECES = (
    "", " ", "\n", ":", "- ", "[", "]", "{", "}", "'", '"', "*arm", "&x ", "!t ", "#", "1e999", "-1", ".nan", "null",
    "true", "arms:", "\t", "é", "\x00", "? ", "|", ">", "%", "@", "9" * 30,
)  # fmt: skip


def mutate(data, text):
    """`text` after one to three changes: a piece put in, cut out, doubled, or a word replaced."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 12)))
        how = data.draw(st.sampled_from(("insert", "delete", "double", "replace")))
        piece = data.draw(st.sampled_from(PIECES))
        middle = {"insert": piece + text[start:stop], "delete": "", "double": 2 * text[start:stop], "replace": piece}[
            how
        ]
        text = text[:start] + middle + text[stop:]
    return text
