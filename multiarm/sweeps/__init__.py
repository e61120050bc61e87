"""Compiled sweeps over the tree: spatial algebra on values, steps at a link, and the algorithms made of them."""
