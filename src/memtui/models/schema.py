"""Check what a model answered against a JSON schema, of which only the keywords named here are used.

An object may have no key that its schema does not name: what comes back can only be of the schema."""

from typing import Any

Schema = dict[str, Any]
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "description"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
}


def problem(value: object, schema: Schema, place: str = "") -> str:
    """Say what is wrong with a value, and where; empty if nothing is. Raises ValueError for an unknown keyword."""
    if unknown := schema.keys() - KEYWORDS:
        raise ValueError(f"a schema with {', '.join(sorted(unknown))}")
    at = place or "the answer"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    # True is an int of Python.
    possible = set(kinds) - ({"integer", "number"} if isinstance(value, bool) else set())
    if kinds and not any(isinstance(value, TYPES[kind]) for kind in possible):
        return f"{at} is not of type {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        return _range(len(value), schema, at, "Length", "characters")
    if isinstance(value, list):
        items = (problem(item, schema.get("items", {}), f"{place}[{number}]") for number, item in enumerate(value))
        return _range(len(value), schema, at, "Items", "items") or next(filter(None, items), "")
    if isinstance(value, dict):
        properties: Schema = schema.get("properties", {})
        missing = [f"{at} has no “{key}”" for key in schema.get("required", []) if key not in value]
        if wrong := missing or _named(value, schema, place)[1]:
            return wrong[0]
        items = (problem(item, properties[key], f"{place}.{key}" if place else key) for key, item in value.items())
        return next(filter(None, items), "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        # Told so, what is no number (NaN), as JSON of Python may have it, is out of each range.
        if not (low is None or value >= low) or not (high is None or value <= high):
            return f"{at} is out of range"
    return ""


def fitting(value: dict[str, Any], schema: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return what of an object is of its schema, and what is wrong with the parts that are left out: keys that it does
    not name, and items of its arrays. What else is wrong stays in it."""
    properties, wrong = _named(value, schema, "")
    for key, given in properties.items():
        of_items = schema["properties"][key].get("items")
        if not isinstance(given, list) or of_items is None:
            continue
        most, fits = schema["properties"][key].get("maxItems", len(given)), []
        for number, part in enumerate(given):
            place = f"{key}[{number}]"
            item, unknown = _named(part, of_items, place) if isinstance(part, dict) else (part, [])
            wrong += unknown
            if bad := problem(item, of_items, place):
                wrong.append(bad)
            else:
                fits.append(item)
        wrong += [f"{key} has {len(fits) - most} items too many"] if len(fits) > most else []
        properties[key] = fits[:most]
    return properties, wrong


def _named(value: dict[str, Any], schema: Schema, place: str) -> tuple[dict[str, Any], list[str]]:
    """Return an object without the keys that its schema does not name, and these in words."""
    names = schema.get("properties", {})
    unknown = [f"{place or 'the answer'} has an unknown key, “{str(key)[:40]}”" for key in value if key not in names]
    return {key: item for key, item in value.items() if key in names}, unknown


def _range(size: int, schema: Schema, at: str, what: str, unit: str) -> str:
    if size < schema.get("min" + what, 0):
        return f"{at} has too few {unit}"
    most = schema.get("max" + what)
    return f"{at} has too many {unit}" if most is not None and size > most else ""
