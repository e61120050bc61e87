"""The XML side of URDF: reading a file strictly, and handing yourdfpy only what it reads right.

yourdfpy parses the numbers. It also repairs broken XML, fills missing inertias with ones, drops rotor inertias and
trips over shapes and prefixes it does not know; what is here stands between it and the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

from multiarm.errors import RobotFileError

__all__ = ["UrdfDocument", "read_urdf"]

_HUGE = 1e100  # products of numbers below it stay finite; limits may be larger, as a way to say "none"
_GEOMETRIES = ("box", "sphere", "cylinder", "mesh")

# How many numbers each attribute holds, by element; a mesh scale may also be one number for all axes.
_NUMBERS: dict[str, dict[str, tuple[int, ...]]] = {
    "origin": {"xyz": (3,), "rpy": (3,)},
    "axis": {"xyz": (3,)},
    "mass": {"value": (1,)},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1,)),
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), (1,)),
    "dynamics": dict.fromkeys(("damping", "friction", "armature", "rotor_inertia"), (1,)),
    "mimic": dict.fromkeys(("multiplier", "offset"), (1,)),
    "calibration": dict.fromkeys(("rising", "falling"), (1,)),
    "safety_controller": dict.fromkeys(("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"), (1,)),
    "box": {"size": (3,)},
    "sphere": {"radius": (1,)},
    "cylinder": {"radius": (1,), "length": (1,)},
    "mesh": {"scale": (1, 3)},
    "color": {"rgba": (4,)},
}
_REQUIRED_ATTRIBUTES = {
    "link": ("name",),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "mimic": ("joint",),
    "mesh": ("filename",),
    "mass": ("value",),
    **{name: tuple(_NUMBERS[name]) for name in ("inertia", "box", "sphere", "cylinder")},
}
_REQUIRED_CHILDREN = {"inertial": ("mass", "inertia"), "joint": ("parent", "child")}
_NOT_NEGATIVE = {"mass": ("value",), "dynamics": tuple(_NUMBERS["dynamics"])}


@dataclass(frozen=True)
class UrdfDocument:
    """A URDF file whose names and numbers are sound: yourdfpy's robot, and what yourdfpy does not tell.

    `armatures` maps joints to the rotor inertia seen at them [kg m^2 or kg]; `unused_rotors` and
    `unread_shapes` say what was left out.
    """

    robot: Any
    armatures: dict[str, float]
    unused_rotors: list[str]
    unread_shapes: list[str]


def read_urdf(path: Path) -> UrdfDocument:
    """Read a URDF file; `RobotFileError` if its XML, its names or its numbers are wrong."""
    root = _read_xml(path)
    _check_values(path, root)
    armatures, unused_rotors = _armatures(path, root)
    unread_shapes = _drop_what_yourdfpy_cannot_read(root)
    return UrdfDocument(_parse(path, root), armatures, unused_rotors, unread_shapes)


def _read_xml(path: Path) -> Any:
    """The `<robot>` element. Broken XML is refused; undeclared prefixes, which old ROS files have, are let pass."""
    from lxml import etree

    try:
        data = path.read_bytes()
    except OSError as error:
        raise RobotFileError(path, f"the file cannot be read ({error.strerror})") from error
    parser = etree.XMLParser(recover=True, remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise RobotFileError(path, f"malformed XML: {error}") from error
    for fault in parser.error_log:
        if fault.domain != etree.ErrorDomains.NAMESPACE:
            raise RobotFileError(path, f"malformed XML in line {fault.line}: {fault.message}")
    if root is None:
        raise RobotFileError(path, "the file has no <robot> element: it is empty")
    namespace, brace, _ = root.tag.rpartition("}")  # a default namespace, as Drake's files have, qualifies every tag
    for element in root.iter("*") if namespace else ():
        local = element.tag.removeprefix(namespace + brace)
        if ":" not in local:
            element.tag = local
    if root.tag != "robot":
        raise RobotFileError(path, f"the file has no <robot> element: its root is <{root.tag}>, so it is not URDF")
    if not root.get("name"):
        raise RobotFileError(path, "the <robot> element has no name")
    return root


def _check_values(path: Path, root: Any) -> None:
    """Required parts are there, numbers are finite, names occur once."""
    seen: set[tuple[str, str]] = set()
    for owner in root.iterchildren("link", "joint"):
        name = owner.get("name") or "(no name)"
        where = f"{owner.tag} {name!r}"
        if (owner.tag, name) in seen:
            raise RobotFileError(path, f"two {owner.tag}s are named {name!r}", [name])
        seen.add((owner.tag, name))
        for element in owner.iter("*"):
            for attribute in _REQUIRED_ATTRIBUTES.get(element.tag, ()):
                if not element.get(attribute):
                    raise RobotFileError(path, f"{where}: <{element.tag}> has no {attribute!r}", [name])
            for child in _REQUIRED_CHILDREN.get(element.tag, ()):
                if element.find(child) is None:
                    raise RobotFileError(path, f"{where}: <{element.tag}> has no <{child}>", [name])
            for attribute, counts in _NUMBERS.get(element.tag, {}).items():
                if (text := element.get(attribute)) is not None:
                    what = f"{where}: {attribute!r} of <{element.tag}>"
                    # yourdfpy takes commas as separators in these two elements only
                    words = text.replace(",", " ") if element.tag in ("box", "mesh") else text
                    first, *_ = _numbers(path, what, words, counts, name)
                    if first < 0.0 and attribute in _NOT_NEGATIVE.get(element.tag, ()):
                        raise RobotFileError(path, f"{what} is negative: {text!r}", [name])


def _numbers(path: Path, what: str, text: str, counts: tuple[int, ...], name: str) -> list[float]:
    """The finite numbers in `text`, as many as one of `counts`."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        hint = " (run xacro on the file first)" if "${" in text or "$(" in text else ""
        raise RobotFileError(path, f"{what} is not made of numbers: {text!r}{hint}", [name]) from None
    if len(values) not in counts:
        raise RobotFileError(path, f"{what} should hold {counts[-1]} number(s), not {text!r}", [name])
    is_limit = what.endswith("<limit>")
    if not all(isfinite(value) and (is_limit or abs(value) < _HUGE) for value in values):
        hint = "; for no limit, leave the attribute out" if is_limit else ""
        raise RobotFileError(path, f"{what} is not finite or out of all proportion: {text!r}{hint}", [name])
    return values


def _armatures(path: Path, root: Any) -> tuple[dict[str, float], list[str]]:
    """Rotor inertia seen at each joint that has one [kg m^2 or kg], and notes on those that could not be attributed."""
    dynamics = {joint.get("name"): joint.find("dynamics") for joint in root.iterchildren("joint")}
    given = {name: element.attrib for name, element in dynamics.items() if element is not None}
    rotors = {name: attributes["rotor_inertia"] for name, attributes in given.items() if "rotor_inertia" in attributes}
    gears: dict[str, str] = {}
    notes: list[str] = []
    for transmission in root.iterchildren("transmission"):
        joints = [joint.get("name") for joint in transmission.iterchildren("joint")]
        values: dict[str, list[str]] = {}
        for element in transmission.iter("*"):
            key = element.tag.rpartition("}")[2].rpartition(":")[2]  # with or without a declared prefix
            values.setdefault(key, []).append((element.get("value") or element.text or "").strip())
        found = values.get("rotor_inertia", [])
        if len(joints) == 1 and len(found) <= 1:
            gears[joints[0]] = (values.get("gear_ratio") or values.get("mechanicalReduction") or ["1"])[0]
            if found:
                rotors.setdefault(joints[0], found[0])
        elif found:
            notes.append(
                f"rotor inertias of transmission {transmission.get('name')!r} are not used: several joints or rotors"
            )
    armatures: dict[str, float] = {}
    for name, rotor in rotors.items():
        (inertia,) = _numbers(path, f"joint {name!r}: its rotor inertia", rotor, (1,), name)
        (gear,) = _numbers(path, f"joint {name!r}: its gear ratio", gears.get(name, "1"), (1,), name)
        if inertia < 0.0:
            raise RobotFileError(path, f"joint {name!r}: its rotor inertia is negative: {rotor!r}", [name])
        armatures[name] = gear * gear * inertia
    armatures.update(
        {name: float(attributes["armature"]) for name, attributes in given.items() if "armature" in attributes}
    )
    return armatures, notes


def _drop_what_yourdfpy_cannot_read(root: Any) -> list[str]:
    """Cut the document down to plain links and joints; notes on the shapes this loses (capsules, for instance)."""
    notes = []
    for element in list(root.iter("*")):
        parent = element.getparent()
        if parent is not None and (":" in element.tag or (parent is root and element.tag not in ("link", "joint"))):
            parent.remove(element)
        for attribute in [key for key in element.attrib if ":" in key]:
            del element.attrib[attribute]
    for link in root.iterchildren("link"):
        for part in link.findall("visual") + link.findall("collision"):
            shape = next(iter(part.find("geometry") if part.find("geometry") is not None else ()), None)
            if shape is None or shape.tag not in _GEOMETRIES:
                what = "it has none" if shape is None else f"<{shape.tag}>"
                notes.append(f"a {part.tag} geometry of link {link.get('name')!r} is not read: {what}")
                link.remove(part)
    return notes


def _parse(path: Path, root: Any) -> Any:
    """The robot as yourdfpy has it: links and joints with parsed numbers and 4x4 origins."""
    import yourdfpy
    from lxml import etree

    etree.cleanup_namespaces(root)
    try:
        return yourdfpy.URDF.load(BytesIO(etree.tostring(root)), build_scene_graph=False, load_meshes=False).robot
    except Exception as error:  # it raises whatever its parsing trips over: KeyError, TypeError, ValueError, ...
        raise RobotFileError(path, f"not valid URDF ({type(error).__name__}: {error})") from error
